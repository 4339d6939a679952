/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.numeric.integrity.ColumnProbe;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.numeric.integrity.FrontSums;

/** Column sums over a stage's packed rows in host memory: what {@link RoundExecutor} specifies. */
public final class StageSums {

  private StageSums() {}

  /** Adds the sums over the rows of the fronts that count; {@code out} is the output buffer. */
  public static void add(
      StageProgram program, double[] out, double[] scale, boolean[] counts, ColumnSums sums) {
    var rows = new FrontSums(probe(program, scale));
    for (int f = 0; f < program.fronts(); f++) {
      if (counts[f]) {
        add(program, f, out, (int) program.outStart(f), rows, sums);
      }
    }
  }

  /**
   * Adds the sums over the rows of front f, whose slice of the output buffer starts at {@code at}.
   */
  public static void add(
      StageProgram program, int f, double[] slice, int at, double[] scale, ColumnSums sums) {
    add(program, f, slice, at, new FrontSums(probe(program, scale)), sums);
  }

  private static void add(
      StageProgram program, int f, double[] out, int at, FrontSums rows, ColumnSums sums) {
    FrontDescriptor d = program.descriptor(f);
    rows.clear();
    rows.begin(program.columns().number(), program.columns().start()[f], d.fn());
    int count = Math.min(d.fm(), d.fp()) + (d.parent() < 0 ? d.cm() : 0);
    int right = at + program.outLength(f) - count * d.rhs();
    rows.trapezoid(out, at, count, out, right);
    rows.addTo(sums);
  }

  private static ColumnProbe probe(StageProgram program, double[] scale) {
    return ColumnProbe.ofAll(program.columns().count(), scale);
  }
}
