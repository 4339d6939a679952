/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.StageProgram;
import java.util.ArrayList;
import java.util.List;

/**
 * Leftover rows that fronts of a stage have passed on beyond their blocks, kept for their parents.
 */
final class RowsLeftOver {

  private final StageProgram program;

  /** size fronts; rows of fn + rhs values, or none. */
  private final List<List<double[]>> rows = new ArrayList<>();

  RowsLeftOver(StageProgram program) {
    this.program = program;
    for (int f = 0; f < program.fronts(); f++) {
      rows.add(List.of());
    }
  }

  /** Keeps a front's rows, in its columns. */
  void pass(int front, List<double[]> left) {
    rows.set(front, left);
  }

  /**
   * The leftover rows of a front's children, children ascending, in the front's columns.
   *
   * @param state size fronts
   */
  List<double[]> of(int front, int[] state) {
    FrontDescriptor parent = program.descriptor(front);
    var all = new ArrayList<double[]>();
    for (int c = 0; c < front; c++) {
      FrontDescriptor d = program.descriptor(c);
      if (d.parent() == front && state[c] == TaskLayout.STATE_PASSED) {
        for (double[] row : rows.get(c)) {
          double[] there = new double[parent.fn() + parent.rhs()];
          for (int j = 0; j < d.cn() + d.rhs(); j++) {
            there[program.maps()[(int) d.columnMap() + j]] = row[d.fp() + j];
          }
          all.add(there);
        }
      }
    }
    return all;
  }
}
