/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.integrity.FaultOracle;
import io.sparqr.numeric.integrity.FaultProblem;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.integrity.TaskCheck;
import java.util.Locale;

/**
 * Changes that column sums let through, where x is most sensitive: mantissa bits from 8 on of every
 * pivot and of the first right-hand side beside it, one at a time, in right results of problems
 * with conditions of 100 to 1000. Random faults seldom hit these places. Arguments: problems; the
 * first seed.
 */
final class PivotFaults {

  private long put;
  private long unseen;
  private long wrong;
  private double worst;
  private double gram;

  private PivotFaults() {}

  /** Runs and prints one line. */
  public static void main(String[] arguments) {
    var all = new PivotFaults();
    int left = Integer.parseInt(arguments[0]);
    for (long seed = Long.parseLong(arguments[1]); left > 0; seed++) {
      left -= all.problem(seed);
    }
    System.out.printf(
        Locale.ROOT,
        "%s problems: put in %d, unseen %d, of these x off by more than %.0e: %d, by at most %.2e,"
            + " where R'R is off by at most %.2g c eps%n",
        arguments[0],
        all.put,
        all.unseen,
        FaultOracle.X,
        all.wrong,
        all.worst,
        all.gram);
  }

  /** 1 if the problem is one of the wanted condition. */
  private int problem(long seed) {
    FaultProblem p = FaultProblem.random(seed, 1);
    if (p.options().keepQ()) {
      return 0;
    }
    try (var cpu = new CpuSubtreeFactorizer()) {
      SubtreeFactor right = cpu.factor(p.problem(), p.options());
      var oracle = new FaultOracle(p, right);
      if (!(oracle.condition() >= 100 && oracle.condition() < FaultOracle.CONDITION)) {
        return 0;
      }
      for (FrontFactor f : right.fronts()) {
        int at = 0;
        for (int i = 0; i < f.rank(); i++) {
          bits(p, right, oracle, TestMatrices.rowsOfR(f), at);
          bits(p, right, oracle, f.rhs(), i * f.rhsCount());
          at += f.fn() - f.livePivot()[i];
        }
      }
      return 1;
    }
  }

  private void bits(FaultProblem p, SubtreeFactor f, FaultOracle oracle, double[] x, int at) {
    double was = x[at];
    for (int bit = 8; bit < 52; bit++) {
      x[at] = Double.longBitsToDouble(Double.doubleToRawLongBits(was) ^ 1L << bit);
      put++;
      try {
        TaskCheck.verify(p.problem(), f, p.options());
      } catch (IntegrityFailure e) {
        continue;
      }
      unseen++;
      FaultOracle.Off off = oracle.off(f);
      if (!(off.x() <= FaultOracle.X)) {
        wrong++;
        worst = Math.max(worst, off.x());
        gram = Math.max(gram, off.gram() / oracle.limit());
      }
    }
    x[at] = was;
  }
}
