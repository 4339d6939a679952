/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.configuration.Keys;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.numeric.storage.RowStore;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Milliseconds of (R'R)^-1 c with the R that stayed on the device, as its caller sees them: checks
 * and transfers included. Beside it the time to read R four times, for two solves and their checks,
 * at 4.3 TB/s, and what staying adds to the factorization; then the same with R that has left the
 * device for page-locked memory. Arguments: repeats, then problems, each {@code SPEC@ORDERING}.
 */
final class LaterSolves {

  private LaterSolves() {}

  /** See the class. */
  public static void main(String[] args) {
    var sessions = new DeviceSessions(TestDevice.driver(), 10_000);
    for (String problem : Arrays.asList(args).subList(1, args.length)) {
      String[] part = problem.split("@");
      measure(sessions, problem, part[0], part[1], Integer.parseInt(args[0]));
    }
    sessions.closeIdle();
  }

  private static void measure(
      DeviceSessions sessions, String name, String spec, String ordering, int repeats) {
    CsrMatrix a = Gallery.generate(Gallery.PREFIX + spec);
    OrderingMethod method =
        Arrays.stream(OrderingMethod.values())
            .filter(m -> m.label().equals(ordering))
            .findFirst()
            .orElseThrow();
    var analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withOrdering(method));
    double[] b = new Random(1).doubles(a.rows(), -1, 1).toArray();
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    var rows = RowSplit.of(a, b, 1, analysis, norms.factors()).rows();
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    var problem = new SubtreeProblem(analysis, fronts, rows, List.of());
    var options = new FactorOptions(0, Runtime.getRuntime().availableProcessors(), 0);
    double[] factor = {1e9, 1e9, 1e9};
    ResidentFactor r = null;
    int pivots = 0;
    double bytes = 0;
    try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
      for (int k = 0; k < 9; k++) {
        long begin = System.nanoTime();
        SubtreeFactor f = device.factor(problem, options.staying(k % 3 > 0).alone(k % 3 > 1));
        factor[k % 3] = Math.min(factor[k % 3], 1e-9 * (System.nanoTime() - begin));
        if (k % 3 > 0) {
          if (r != null) {
            r.close();
          }
          r = f.residence().factor().orElseThrow();
        }
        if (k % 3 == 1) {
          pivots = f.fronts().stream().mapToInt(FrontFactor::rank).sum();
          bytes = f.fronts().stream().mapToDouble(t -> 8.0 * t.length()).sum();
        }
      }
    }
    double solution = Double.POSITIVE_INFINITY;
    try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
      for (int k = 0; k < 7; k++) {
        long begin = System.nanoTime();
        device.factor(problem, options.forSolution(true));
        solution = Math.min(solution, 1e-9 * (System.nanoTime() - begin));
      }
    }
    double[] c = new Random(2).doubles(pivots, -1, 1).toArray();
    double[] millis = new double[repeats];
    double[] x = r.solve(c, 1).orElseThrow();
    for (int k = 0; k < repeats; k++) {
      millis[k] = solveMillis(r, c, x);
    }
    double fetch = fetchSeconds(r, options.threads());
    Arrays.sort(millis);
    System.out.printf(
        Locale.ROOT,
        "%s | R %.3f GB, %,d fronts, %,d columns | floor %.2f ms | least %.2f, median %.2f ms |"
            + " factor %.4f s, with R staying as well %.4f s, alone %.4f s, x in its place %.4f s, fetched %.4f s%n",
        name,
        bytes * 1e-9,
        fronts.length,
        pivots,
        4 * bytes / 4.3e12 * 1e3,
        millis[0],
        millis[repeats / 2],
        factor[0],
        factor[1],
        factor[2],
        solution,
        fetch);
    moved(sessions, r, c, x);
    r.close();
  }

  /** R that leaves the device to others, and comes back. */
  private static void moved(DeviceSessions sessions, ResidentFactor r, double[] c, double[] x) {
    r.claimed(STANDING);
    double[] seconds = new double[2];
    double[] overTheBus = new double[2];
    double[] back = new double[2];
    for (int k = 0; k < 2; k++) {
      long device = r.bytes();
      long begin = System.nanoTime();
      try (var lease = sessions.acquire(0)) {
        lease.session().residents().evictOldest();
      }
      seconds[k] = 1e-9 * (System.nanoTime() - begin);
      if (r.bytes() == device) {
        throw new IllegalStateException("R has not moved");
      }
      System.setProperty(Keys.RESIDENT_SHARE.name(), "0");
      overTheBus[k] = Double.POSITIVE_INFINITY;
      try {
        for (int repeat = 0; repeat < 5; repeat++) {
          overTheBus[k] = Math.min(overTheBus[k], solveMillis(r, c, x));
        }
      } catch (InsufficientMemoryException e) {
        System.out.println("  " + e.getMessage());
      }
      System.clearProperty(Keys.RESIDENT_SHARE.name());
      back[k] = solveMillis(r, c, x);
      if (r.bytes() != device) {
        throw new IllegalStateException("R has not come back");
      }
    }
    System.out.printf(
        Locale.ROOT,
        "  moved to the host %.3f s, again %.3f s | solves there %.1f ms | brought back with a solve"
            + " %.1f ms%n",
        seconds[0],
        seconds[1],
        Math.min(overTheBus[0], overTheBus[1]),
        Math.min(back[0], back[1]));
  }

  private static double solveMillis(ResidentFactor r, double[] c, double[] x) {
    long begin = System.nanoTime();
    double[] again = r.solve(c, 1).orElseThrow();
    double millis = 1e-6 * (System.nanoTime() - begin);
    if (!Arrays.equals(x, again)) {
      throw new IllegalStateException("other bits");
    }
    return millis;
  }

  private static final ResidentFactor.Claim STANDING =
      new ResidentFactor.Claim() {
        @Override
        public boolean stands() {
          return true;
        }

        @Override
        public void take() {
          throw new IllegalStateException("no room on the host");
        }
      };

  /** Seconds in which R that is on the device alone comes to the host, the best of three. */
  private static double fetchSeconds(ResidentFactor r, int threads) {
    double best = 1e9;
    for (int k = 0; k < 3; k++) {
      try (var store = new RowStore(new RowBudget(1L << 40), Path.of(""))) {
        long begin = System.nanoTime();
        if (r.fetch(store, threads).isEmpty()) {
          throw new IllegalStateException("R is gone");
        }
        best = Math.min(best, 1e-9 * (System.nanoTime() - begin));
      }
    }
    return best;
  }
}
