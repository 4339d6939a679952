/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/** What a caller may ask for; the report names what was used, and why. */
public enum OrderingMethod {
  /** A choice by shape: see {@code Orderings}. */
  AUTO,
  /** Column approximate minimum degree on A (Davis, Gilbert, Larimore, Ng 2004). */
  COLAMD,
  /** Approximate minimum degree on A'A (Amestoy, Davis, Duff 1996). */
  AMD,
  /** Multilevel nested dissection of the graph of A'A. */
  NESTED_DISSECTION,
  /** Columns as they come. */
  NATURAL,
  /** A permutation that the caller gives. */
  GIVEN,
  /** Least flops of COLAMD, AMD and nested dissection. */
  BEST
}
