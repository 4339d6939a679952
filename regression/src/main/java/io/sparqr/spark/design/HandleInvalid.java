/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The treatment of a row with a missing value, named as in Spark ML's param. */
public enum HandleInvalid {
  /** An error that names row and column; levels that the fit has not seen are errors, too. */
  ERROR,
  /** The row is left out of the fit, or of the output of a model. */
  SKIP,
  /**
   * A factor's missing values become a separate last level. A level that the fit has not seen
   * counts as missing or, if the fit had no missing values, as the reference level. A missing
   * number is an error in a fit, and gives a missing prediction.
   */
  KEEP;

  /** All names, as used in params. */
  public static List<String> names() {
    return Arrays.stream(values()).map(HandleInvalid::param).toList();
  }

  /** The name used in params. */
  public String param() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The value for a name. */
  public static HandleInvalid of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }
}
