/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.ordering.choice.Orderings;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The ordering that a caller requests; the report names the one used and the reason. */
public enum OrderingMethod {
  /** A choice by the flops under a cheap order: see {@link Orderings}. */
  AUTO("auto"),
  /** Column approximate minimum degree on A (Davis, Gilbert, Larimore, Ng 2004). */
  COLAMD("colamd"),
  /** Approximate minimum degree on A'A (Amestoy, Davis, Duff 1996). */
  AMD("amd"),
  /** Multilevel nested dissection of the graph of A'A. */
  NESTED_DISSECTION("nd"),
  /** Columns in their given order. */
  NATURAL("natural"),
  /** A permutation given by the caller. */
  GIVEN("given"),
  /** The one of COLAMD, AMD and nested dissection with the least flops. */
  BEST("best");

  private final String label;

  OrderingMethod(String label) {
    this.label = label;
  }

  /** The name on the command line and in reports. */
  public String label() {
    return label;
  }

  /**
   * The method with a name: a {@link #label()} or the constant's own name, in any case.
   *
   * @throws IllegalArgumentException if there is none; the message lists the legal names
   */
  public static OrderingMethod parse(String name) {
    String wanted = name.strip().toLowerCase(Locale.ROOT);
    for (OrderingMethod method : values()) {
      if (wanted.equals(method.label) || wanted.equals(method.name().toLowerCase(Locale.ROOT))) {
        return method;
      }
    }
    throw new IllegalArgumentException(
        "unknown ordering '"
            + name
            + "': legal are "
            + Arrays.stream(values()).map(OrderingMethod::label).collect(Collectors.joining(", ")));
  }
}
