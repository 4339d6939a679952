/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What is done with a row that lacks a value, as Spark ML's param of the same name. */
public enum HandleInvalid {
  /** An error that names row and column; so it is for a level that the fit has not seen. */
  ERROR,
  /** The row is left out: of the fit, and of what a model transforms. */
  SKIP,
  /**
   * A factor's missing values are a level of their own, the last one; a level that the fit has not
   * seen counts as missing, and where nothing was missing in the fit, as the reference level. A
   * missing number is an error in a fit and a missing prediction.
   */
  KEEP;

  /** All names, as params write them. */
  public static List<String> names() {
    return Arrays.stream(values()).map(HandleInvalid::param).toList();
  }

  /** As params write it. */
  public String param() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The one of a name. */
  public static HandleInvalid of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }
}
