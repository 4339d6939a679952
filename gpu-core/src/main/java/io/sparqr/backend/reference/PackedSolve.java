/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.RoundExecutor.Solved;
import io.sparqr.backend.staged.StageProgram;

/**
 * R x = c with the packed rows of a stage's output buffer, row by row from the last front to the
 * first: specifies {@code back_substitution.cuh}.
 */
final class PackedSolve {

  private final StageProgram program;
  private final double[] out;
  private final double[] x;
  private double worst;

  private PackedSolve(StageProgram program, double[] out) {
    this.program = program;
    this.out = out;
    this.x = new double[program.columns().count() * program.rhs()];
  }

  static Solved run(StageProgram program, double[] out) {
    var solve = new PackedSolve(program, out);
    for (int f = program.fronts() - 1; f >= 0; f--) {
      solve.front(f);
    }
    return new Solved(solve.x, solve.worst);
  }

  private void front(int f) {
    FrontDescriptor d = program.descriptor(f);
    int rhs = program.rhs();
    int[] number = program.columns().number();
    int first = program.columns().start()[f];
    int values = (int) program.outStart(f);
    int right = values + program.outLength(f) - (d.fp() + (d.parent() < 0 ? d.cm() : 0)) * rhs;
    for (int i = d.fp() - 1; i >= 0; i--) {
      int diagonal = values + i * d.fn() - i * (i - 1) / 2;
      for (int q = 0; q < rhs; q++) {
        double c = out[right + i * rhs + q];
        double sum = 0;
        double size = 0;
        for (int j = i + 1; j < d.fn(); j++) {
          double v = out[diagonal + j - i] * x[number[first + j] * rhs + q];
          sum += v;
          size += Math.abs(v);
        }
        double xi = (c - sum) / out[diagonal];
        x[number[first + i] * rhs + q] = xi;
        double own = out[diagonal] * xi;
        double rest = Math.abs(c - sum - own);
        worst = Math.max(worst, rest == 0 ? 0 : rest / (Math.abs(c) + size + Math.abs(own)));
      }
    }
  }
}
