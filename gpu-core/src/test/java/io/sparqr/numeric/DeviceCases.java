/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.matrix.Gallery;
import io.sparqr.ordering.NestedDissection;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Random;

/** Problems of a backend's own tests. */
public final class DeviceCases {

  private DeviceCases() {}

  /** A generated problem as one task, one right-hand side, nested dissection. */
  public static SubtreeProblem whole(String specification) {
    var a = Gallery.generate(specification);
    var options = SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern()));
    var random = new Random(4);
    var c = new ContractCase(specification, a, TestMatrices.vector(a.rows(), random), 1, options);
    int[] fronts = new int[c.analysis.fronts()];
    java.util.Arrays.setAll(fronts, f -> f);
    return new SubtreeProblem(c.analysis, fronts, c.split().rows(), java.util.List.of());
  }
}
