/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.tuning.TuningBench;
import io.sparqr.backend.tuning.TuningProblems;
import io.sparqr.backend.tuning.Workload;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.tall.ChunkReducer;
import io.sparqr.numeric.tall.TallFront;
import io.sparqr.symbolic.Tuning;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Measures tunings on a device: one dense front by {@link DenseFront}, many fronts by {@link
 * CudaSubtreeFactorizer}, with the time of their kernels alone; rows of a tall matrix by {@link
 * TallFront}, with the time from the host's memory to R. The last {@value #KEPT} tunings of a
 * workload keep their lists and memory, so that two can be measured in turns.
 */
final class CudaTuningBench implements TuningBench {

  private static final int KEPT = 3;

  private static final int[] SMALL_COLUMNS = {16, 24, 32, 48, 64, 80, 96, 128};

  /**
   * Sizes of the workloads.
   *
   * @param tall rows and columns of the tall front
   * @param square rows and columns of the square one
   * @param narrow how many narrow fronts, their rows and columns
   * @param small how many small fronts, of 16 to 128 columns
   * @param mesh nodes along each of its three sides
   * @param chunks rows and columns of the tall matrix in chunks
   */
  record Sizes(int[] tall, int square, int[] narrow, int small, int mesh, int[] chunks) {

    /** For a device of a hundred multiprocessors: a measurement takes some ten milliseconds. */
    static final Sizes USUAL =
        new Sizes(
            new int[] {100_000, 192},
            4096,
            new int[] {96, 320, 160},
            600,
            40,
            new int[] {32_768, 512});
  }

  private final DeviceSessions sessions;
  private final int ordinal;
  private final int threads;
  private final Sizes sizes;
  private final DeviceSessions.Lease lease;
  private final Map<Workload, Site> sites = new EnumMap<>(Workload.class);
  private boolean closed;

  /** A way to measure a tuning that has been prepared for. */
  private interface Trial extends AutoCloseable {
    /** Seconds of one run. */
    double run();

    @Override
    void close();
  }

  /** Makes trials of a workload; the values of its problem are shared by them. */
  private final class Site {
    private final double flops;
    private final Function<Tuning, Trial> make;
    private final Map<Tuning, Trial> kept = new LinkedHashMap<>(KEPT, 1, true);

    Site(double flops, Function<Tuning, Trial> make) {
      this.flops = flops;
      this.make = make;
    }

    double seconds(Tuning tuning) {
      Trial trial = kept.get(tuning);
      if (trial == null) {
        if (kept.size() == KEPT) {
          Tuning oldest = kept.keySet().iterator().next();
          Trial last = kept.remove(oldest);
          last.close();
        }
        trial = make.apply(tuning);
        kept.put(tuning, trial);
        // Lists are sent, memory is touched for the first time.
        trial.run();
      }
      return trial.run();
    }

    void close() {
      kept.values().forEach(Trial::close);
      kept.clear();
    }
  }

  /** Holds the device's session until it is closed. */
  CudaTuningBench(DeviceSessions sessions, int ordinal, int threads, Sizes sizes) {
    this.sizes = sizes;
    this.sessions = sessions;
    this.ordinal = ordinal;
    this.threads = threads;
    lease = sessions.acquire(ordinal);
  }

  @Override
  public double seconds(Workload workload, Tuning tuning) {
    return site(workload).seconds(tuning);
  }

  @Override
  public double flops(Workload workload) {
    return site(workload).flops;
  }

  @Override
  public String describe(Workload workload) {
    String size =
        switch (workload) {
          case TALL -> "%d x %d".formatted(sizes.tall[0], sizes.tall[1]);
          case SQUARE -> "%d x %d".formatted(sizes.square, sizes.square);
          case NARROW ->
              "%d of %d x %d".formatted(sizes.narrow[0], sizes.narrow[1], sizes.narrow[2]);
          case SMALL -> "%d of 16 to 128 columns".formatted(sizes.small);
          case TREE -> "grad3d%d".formatted(sizes.mesh);
          case CHUNKS -> "%d x %d".formatted(sizes.chunks[0], sizes.chunks[1]);
        };
    return "%s, %s".formatted(workload.words(), size);
  }

  private Site site(Workload workload) {
    return sites.computeIfAbsent(workload, this::open);
  }

  private Site open(Workload workload) {
    return switch (workload) {
      case TALL -> dense(sizes.tall[0], sizes.tall[1]);
      case SQUARE -> dense(sizes.square, sizes.square);
      case NARROW -> {
        int[] rows = new int[sizes.narrow[0]];
        int[] columns = new int[sizes.narrow[0]];
        Arrays.fill(rows, sizes.narrow[1]);
        Arrays.fill(columns, sizes.narrow[2]);
        yield fronts(TuningProblems.blocks(rows, columns));
      }
      case SMALL -> {
        int[] rows = new int[sizes.small];
        int[] columns = new int[sizes.small];
        Arrays.setAll(columns, b -> SMALL_COLUMNS[b % SMALL_COLUMNS.length]);
        Arrays.setAll(rows, b -> columns[b] + columns[b] / 2);
        yield fronts(TuningProblems.blocks(rows, columns));
      }
      case TREE -> fronts(TuningProblems.mesh(sizes.mesh));
      case CHUNKS -> chunks();
    };
  }

  private static double flops(double m, double n) {
    return 2 * n * n * (m - n / 3);
  }

  private Site dense(int rows, int columns) {
    double[] a = TuningProblems.dense(rows, columns);
    return new Site(flops(rows, columns), tuning -> new DenseTrial(a, rows, columns, tuning));
  }

  private final class DenseTrial implements Trial {
    private final DenseFront front;
    private final double[] a;

    DenseTrial(double[] a, int rows, int columns, Tuning tuning) {
      this.a = a;
      lease.session().device().bind();
      front = new DenseFront(lease.session(), rows, columns, false, threads, tuning);
    }

    @Override
    public double run() {
      lease.session().device().bind();
      front.prepare();
      // before the rows, which another stream sends
      front.lane().compute().synchronize();
      front.sendRows(a);
      front.run();
      return 1e-3 * front.kernelMillis();
    }

    @Override
    public void close() {
      lease.session().device().bind();
      front.close();
    }
  }

  private Site fronts(SubtreeProblem problem) {
    double largest = 0;
    double[] squares = new double[problem.analysis().columns()];
    for (int k = 0; k < problem.rows().position().length; k++) {
      double v = problem.rows().value()[k];
      squares[problem.rows().position()[k]] += v * v;
    }
    for (double s : squares) {
      largest = Math.max(largest, Math.sqrt(s));
    }
    double tolerance =
        FactorOptions.defaultTolerance(
            problem.rows().rows(), problem.analysis().columns(), largest);
    FactorOptions options = new FactorOptions(tolerance, threads, 0).forSolution(true);
    return new Site(
        problem.analysis().flops(), tuning -> new FrontsTrial(problem, options.tunedBy(tuning)));
  }

  private final class FrontsTrial implements Trial {
    private final SubtreeProblem problem;
    private final FactorOptions options;
    private final CudaSubtreeFactorizer device = new CudaSubtreeFactorizer(sessions, ordinal, null);

    FrontsTrial(SubtreeProblem problem, FactorOptions options) {
      this.problem = problem;
      this.options = options;
    }

    @Override
    public double run() {
      device.factor(problem, options).residence().close();
      return 1e-3 * device.kernelMillis();
    }

    @Override
    public void close() {
      device.close();
    }
  }

  private Site chunks() {
    double[] a = TuningProblems.dense(sizes.chunks[0], sizes.chunks[1]);
    return new Site(flops(sizes.chunks[0], sizes.chunks[1]), tuning -> new ChunksTrial(a, tuning));
  }

  private final class ChunksTrial implements Trial {
    private final ChunkReducer reducer;
    private final TallFront front;
    private final double[] a;

    ChunksTrial(double[] a, Tuning tuning) {
      this.a = a;
      Supplier<CudaSubtreeFactorizer> open =
          () -> new CudaSubtreeFactorizer(sessions, ordinal, null);
      int columns = sizes.chunks[1];
      int rows = ChunkReducer.chunkRows(columns, tuning.chunkDoubles());
      reducer = new ChunkReducer(open, columns, rows, threads, tuning);
      front = new TallFront(List.of(reducer));
    }

    @Override
    public double run() {
      long begin = System.nanoTime();
      front.rows(a, 0, sizes.chunks[0]);
      front.r();
      return 1e-9 * (System.nanoTime() - begin);
    }

    @Override
    public void close() {
      front.close();
      reducer.close();
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      try {
        sites.values().forEach(Site::close);
      } finally {
        lease.close();
      }
    }
  }
}
