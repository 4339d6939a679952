/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.layout.SumChunks;
import io.sparqr.numeric.integrity.ColumnProbe;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.numeric.integrity.FrontSums;

/** Column sums over a stage's rows in host memory, as specified by {@link RoundExecutor}. */
public final class StageSums {

  private final StageProgram program;
  private final ColumnSums sums;
  private final double[] scale;
  private final double part;
  private final FrontSums packed;

  /** Adds its results to {@code sums}. */
  public StageSums(StageProgram program, double[] scale, ColumnSums sums) {
    this.program = program;
    this.sums = sums;
    this.scale = scale;
    part = ColumnProbe.right(program.rhs());
    packed = new FrontSums(ColumnProbe.ofAll(program.columns().count(), scale));
  }

  /** Sums over the rows of the included fronts; {@code out} is the output buffer. */
  public void output(double[] out, boolean[] counts) {
    for (int f = 0; f < program.fronts(); f++) {
      if (counts[f]) {
        FrontDescriptor d = program.descriptor(f);
        int rows = SumChunks.rows(d);
        int at = (int) program.outStart(f);
        packed(f, d.fn(), out, at, rows, at + program.outLength(f) - rows * d.rhs());
      }
    }
  }

  /** Sums over S entries and blocks from outside of the included fronts. */
  public void input(double[] entry, double[] input, boolean[] counts) {
    for (int f = 0; f < program.fronts(); f++) {
      if (counts[f]) {
        entries(f, entry);
      }
    }
    for (int b = 0; b < program.blocks(); b++) {
      FrontDescriptor d = program.descriptor(program.fronts() + b);
      if (counts[d.parent()]) {
        packed(program.fronts() + b, d.fn(), input, (int) d.data(), d.fm(), (int) d.dataRhs());
      }
    }
  }

  private void packed(int f, int columns, double[] from, int at, int rows, int right) {
    packed.clear();
    packed.begin(program.columns().number(), program.columns().start()[f], columns);
    packed.trapezoid(from, at, rows, from, right);
    packed.addTo(sums);
  }

  /**
   * Sums over a front's S entries: rows one after the other, then the right-hand sides of all rows.
   */
  private void entries(int f, double[] entry) {
    FrontDescriptor d = program.descriptor(f);
    int[] place = program.sIndex();
    int first = program.columns().start()[f];
    double[] t = new double[d.fm()];
    double[] added = new double[d.fm()];
    int right = SumChunks.rightStart(program, d);
    for (int k = right; k < d.sTo(); k++) {
      int row = Integer.divideUnsigned(place[k], d.ld());
      added[row] += part * (entry[k] * scale[rightNumber(place[k], d)]);
    }
    int e = (int) d.sFrom();
    while (e < right) {
      int row = Integer.divideUnsigned(place[e], d.ld());
      int end = e;
      do {
        t[row] += entry[end] * scale[number(first, place[end], d)];
        end++;
      } while (end < right && Integer.divideUnsigned(place[end], d.ld()) == row);
      for (; e < end; e++) {
        add(number(first, place[e], d), entry[e], t[row] + added[row]);
      }
    }
    for (; e < d.sTo(); e++) {
      int row = Integer.divideUnsigned(place[e], d.ld());
      add(rightNumber(place[e], d), entry[e], t[row]);
    }
  }

  private int rightNumber(int place, FrontDescriptor d) {
    return program.columns().count() + Integer.remainderUnsigned(place, d.ld()) - d.fn();
  }

  private int number(int first, int place, FrontDescriptor d) {
    return program.columns().number()[first + Integer.remainderUnsigned(place, d.ld())];
  }

  private void add(int column, double value, double t) {
    double w = value * scale[column];
    sums.add(column, w * w, w * t);
  }
}
