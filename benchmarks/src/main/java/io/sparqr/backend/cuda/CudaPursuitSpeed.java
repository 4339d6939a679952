/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.matrix.gallery.MovingScene;
import io.sparqr.numeric.lowrank.DensePursuit;
import io.sparqr.numeric.lowrank.PlacedPursuit;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.numeric.lowrank.PursuitOptions;
import io.sparqr.numeric.lowrank.PursuitSite;
import io.sparqr.numeric.lowrank.PursuitStart;
import io.sparqr.numeric.lowrank.PursuitStep;
import io.sparqr.numeric.lowrank.RightSvd;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Iterations a second of Robust PCA on one device, of the paper's size (288 x 384 pixels, 100
 * frames): {@code CudaPursuitSpeed [HEIGHT WIDTH FRAMES ITERATIONS REPEATS]}. A rate is that of the
 * later half of ITERATIONS: sending the matrix, the result and the verdict do not count. Beside it
 * what of an iteration is the host's, from one to the next. Then a whole decomposition to 1e-7.
 */
public final class CudaPursuitSpeed {

  private static final long SEED = 20261128;
  private static final double NOISE = 0.01;

  private CudaPursuitSpeed() {}

  /** See the class. */
  public static void main(String[] args) {
    int[] size = {288, 384, 100, 80, 5};
    for (int k = 0; k < args.length; k++) {
      size[k] = Integer.parseInt(args[k]);
    }
    double[][] m = new MovingScene(size[0], size[1], size[2], NOISE, SEED).matrix();
    var sessions = new DeviceSessions(TestDevice.driver(), 10_000);
    int threads = Runtime.getRuntime().availableProcessors();
    for (PursuitMethod method : PursuitMethod.values()) {
      PursuitOptions options = PursuitOptions.DEFAULTS.withMethod(method).withTolerance(1e-15);
      var rates = new ArrayList<Double>();
      double svd = 0;
      for (int k = 0; k <= size[4]; k++) {
        var clock = new ArrayList<Clock>();
        PlacedPursuit.decompose(
            m,
            options.withMaxIterations(size[3]),
            threads,
            rows -> {
              clock.add(new Clock(new CudaPursuit(sessions, 0, rows, threads), size[3]));
              return Optional.of(clock.get(0));
            });
        if (k > 0) {
          rates.add(clock.get(0).rate());
          svd = clock.get(0).between();
        }
      }
      Collections.sort(rates);
      System.out.printf(
          Locale.ROOT,
          "%d x %d, %s | median %.1f, least %.1f, most %.1f iterations/s | host %.2f ms%n",
          m.length,
          m[0].length,
          method,
          rates.get(rates.size() / 2),
          rates.get(0),
          rates.get(rates.size() - 1),
          1e3 * svd);
    }
    whole("device", () -> decompose(sessions, m, PursuitOptions.DEFAULTS, threads));
    whole("host", () -> DensePursuit.decompose(m, PursuitOptions.DEFAULTS, threads));
    sessions.closeIdle();
  }

  private static DensePursuit decompose(
      DeviceSessions sessions, double[][] m, PursuitOptions options, int threads) {
    return PlacedPursuit.decompose(
            m, options, threads, rows -> Optional.of(new CudaPursuit(sessions, 0, rows, threads)))
        .orElseThrow();
  }

  /** Takes the time of the later half of the iterations. */
  private static final class Clock implements PursuitSite {
    private final PursuitSite site;
    private final int iterations;
    private int made;
    private long half;
    private long end;
    private long outside;

    Clock(PursuitSite site, int iterations) {
      this.site = site;
      this.iterations = iterations;
    }

    @Override
    public double[] reduced(double scale) {
      return site.reduced(scale);
    }

    @Override
    public RightSvd begin(PursuitStart start) {
      return site.begin(start);
    }

    @Override
    public Iterated advance(PursuitStep step) {
      if (made >= iterations / 2) {
        outside += System.nanoTime() - end;
      }
      Iterated result = site.advance(step);
      end = System.nanoTime();
      made++;
      if (made == iterations / 2) {
        half = end;
        outside = 0;
      }
      return result;
    }

    double rate() {
      return (made - iterations / 2) / (1e-9 * (end - half));
    }

    /** Seconds from one iteration to the next. */
    double between() {
      return 1e-9 * outside / (made - iterations / 2);
    }

    @Override
    public void before(double[] s, double[] y) {
      site.before(s, y);
    }

    @Override
    public String description() {
      return site.description();
    }

    @Override
    public void close() {
      site.close();
    }
  }

  private static void whole(String where, Supplier<DensePursuit> run) {
    for (int k = 0; k < 2; k++) {
      long begin = System.nanoTime();
      DensePursuit found = run.get();
      System.out.printf(
          Locale.ROOT,
          "whole, %s | %.3f s | %s | residual %.2e%n",
          where,
          1e-9 * (System.nanoTime() - begin),
          found,
          found.optimality().residual());
    }
  }
}
