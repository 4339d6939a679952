/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Patterns, matrices and permutations: the data types of everything else. */
package io.sparqr.sparse;
