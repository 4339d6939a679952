/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.inference.HcType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The words for standard errors in params. */
final class VcovNames {

  static final String IID = "iid";
  static final String CLUSTER = "cluster";
  static final String FIXEST = "fixest";

  private VcovNames() {}

  /** The kinds of standard errors. */
  static List<String> names() {
    var names = new ArrayList<String>();
    names.add(IID);
    Arrays.stream(HcType.values()).map(Enum::name).forEach(names::add);
    names.add(CLUSTER);
    return names;
  }

  /** The names of the small-sample corrections. */
  static List<String> corrections() {
    return List.of(FIXEST, "sandwich", "none");
  }
}
