/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TimelineText;
import io.sparqr.numeric.WorkListener;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.numeric.storage.RowStore;
import io.sparqr.partition.DeviceMapping;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.DeviceWork;
import io.sparqr.sparse.CsrMatrix;
import java.nio.DoubleBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * One task on 1, 2, .. devices of this host, in one process: seconds of a factorization whose R
 * stays on the first device, values of A on the host before, plan made before; how much faster than
 * on one; what was predicted. One number of devices is open at a time, so that no memory is held
 * for another, and the numbers come twice in turn: 1, 2, .., 1, 2, .. Each time two runs warm up,
 * others are measured; before them, those of a new factorizer, as in a solve: one that plans its
 * stages, makes and sends its lists, and one that takes the plan of the last task and makes and
 * sends lists. When it is first open, each number of devices brings R to the host, and its bits are
 * those of one device.
 *
 * <p>Arguments: problems as for {@link DeviceTable}. System properties: devices.repeats, measured
 * runs each time (default 7); devices.fresh, runs that plan or make lists (default 4);
 * devices.most, at most this many devices; devices.without, not this many; devices.part, each
 * device may use one of so many parts of the memory that one needs (default 1: all), so that the
 * task has several stages; {@code -Dsparqr.benchmark.timeline=true}: one more run at the end, and
 * what every device did in it by cause and over time ({@link TimelineText}).
 */
final class DevicesSpeed {

  private static final int REPEATS = Integer.getInteger("devices.repeats", 7);
  private static final int OPENINGS = 2;
  private static final int WARM_UP = 2;
  private static final int FRESH = Integer.getInteger("devices.fresh", 4);

  /** Kept between factorizers, as in an executor. */
  private static final DeviceSessions SESSIONS = new DeviceSessions(TestDevice.driver(), 10_000);

  private static final int LEFT_OUT = Integer.getInteger("devices.without", 0);
  private static final int PART = Integer.getInteger("devices.part", 1);

  private static final Path FOLDER = Path.of(System.getProperty("java.io.tmpdir"));
  private static final boolean TIMELINE = Boolean.getBoolean("sparqr.benchmark.timeline");

  private DevicesSpeed() {}

  public static void main(String[] problems) {
    int most = Integer.getInteger("devices.most", TestDevice.provider().devices());
    for (String problem : problems) {
      String[] part = problem.split("@");
      try {
        new DevicesSpeed.Problem(part[0], part.length > 1 ? part[1] : "auto").measure(most);
      } catch (RuntimeException | AssertionError | OutOfMemoryError e) {
        System.out.println(problem + ": " + e);
        e.printStackTrace(System.out);
      }
    }
  }

  /** Collects what devices did. */
  private static final class Timelines implements WorkListener {

    private final List<List<DeviceTimeline>> stages = new ArrayList<>();

    @Override
    public void done(double flops) {}

    @Override
    public boolean wantsTimelines() {
      return true;
    }

    @Override
    public void ran(List<DeviceTimeline> devices) {
      stages.add(devices);
    }

    void print() {
      for (int s = 0; s < stages.size(); s++) {
        System.out.printf(Locale.ROOT, "stage %d of %d%n", s + 1, stages.size());
        System.out.print(TimelineText.of(stages.get(s)));
      }
    }
  }

  /** A problem, and the measurements of it. */
  private static final class Problem {

    private final String name;
    private final String ordering;
    private final SubtreeProblem problem;
    private final FactorOptions home;
    private final FactorOptions stays;
    private long[] expected = {};

    Problem(String name, String ordering) {
      this.name = name;
      this.ordering = ordering;
      CsrMatrix a = DeviceTable.matrix(name);
      problem = DeviceTable.problem(a, DeviceTable.analysis(a, ordering));
      int threads = Runtime.getRuntime().availableProcessors();
      double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), 1);
      var whole = new FactorOptions(tolerance, threads, 0).ofUnitColumns(true);
      long budget = PART > 1 ? bytesOnOne(whole) / PART : 0;
      home = new FactorOptions(tolerance, threads, budget).ofUnitColumns(true);
      stays = home.staying(true).alone(true);
    }

    /** Bytes that one device needs for the task in one stage. */
    private long bytesOnOne(FactorOptions options) {
      try (SubtreeFactorizer one = on(List.of(0))) {
        long bytes = one.factor(problem, options).summary().peakDeviceBytes();
        System.out.printf(Locale.ROOT, "%s: %.2f GB on one device%n", name, bytes * 1e-9);
        return bytes;
      }
    }

    void measure(int most) {
      predict(problem, most);
      double[][] wall = new double[most][OPENINGS * REPEATS];
      double[][] fresh = new double[most][OPENINGS * FRESH];
      double[][] again = new double[most][OPENINGS * FRESH];
      long[] stages = new long[most];
      for (int opening = 0; opening < OPENINGS; opening++) {
        for (int k = 0; k < most; k++) {
          if (k + 1 == LEFT_OUT) {
            continue;
          }
          List<Integer> devices = IntStream.rangeClosed(0, k).boxed().toList();
          for (int r = 0; r < FRESH; r++) {
            forget();
            int at = opening * FRESH + r;
            try (SubtreeFactorizer on = on(devices)) {
              fresh[k][at] = seconds(on, stays);
            }
            try (SubtreeFactorizer on = on(devices)) {
              again[k][at] = seconds(on, stays);
            }
          }
          try (SubtreeFactorizer on = on(devices)) {
            if (opening == 0) {
              stages[k] = compare(on, k + 1);
            }
            for (int r = -WARM_UP; r < REPEATS; r++) {
              double seconds = seconds(on, stays);
              if (r >= 0) {
                wall[k][opening * REPEATS + r] = seconds;
              }
            }
            if (TIMELINE && opening == OPENINGS - 1) {
              var told = new Timelines();
              double seconds = seconds(on, stays.heardBy(told));
              System.out.printf(
                  Locale.ROOT, "%s on %d devices, timed: %.4f s%n", name, k + 1, seconds);
              told.print();
            }
          }
        }
      }
      double one = median(wall[0]);
      double oneFresh = median(fresh[0]);
      double oneAgain = median(again[0]);
      for (int k = 0; k < most; k++) {
        if (k + 1 == LEFT_OUT) {
          continue;
        }
        System.out.printf(
            Locale.ROOT,
            "%-22s %-7s %d devices | factorize %8.4f s (best %8.4f) | %.2f times one | %.2f"
                + " TFLOP/s useful | planned, too: %.4f s (best %.4f) | %.2f times one | lists made,"
                + " too: %.4f s (best %.4f) | %.2f times one | %d stages | same bits%n",
            name,
            ordering,
            k + 1,
            median(wall[k]),
            wall[k][0],
            one / median(wall[k]),
            problem.analysis().flops() * 1e-12 / median(wall[k]),
            median(fresh[k]),
            fresh[k][0],
            oneFresh / median(fresh[k]),
            median(again[k]),
            again[k][0],
            oneAgain / median(again[k]),
            stages[k]);
      }
    }

    private static SubtreeFactorizer on(List<Integer> devices) {
      return new CudaSubtreeFactorizer(SESSIONS, devices, null);
    }

    /** The next task plans anew. */
    private static void forget() {
      try (DeviceSessions.Lease lease = SESSIONS.acquire(0)) {
        lease.session().plans().clear();
      }
    }

    /** R that does not stay on a device is put where a task of Spark puts it. */
    private double seconds(SubtreeFactorizer on, FactorOptions options) {
      try (var store = new RowStore(RowBudget.ofJvm(), FOLDER)) {
        long t0 = System.nanoTime();
        on.factor(problem, options.in(store)).residence().close();
        return (System.nanoTime() - t0) * 1e-9;
      }
    }

    /** Brings R home and compares it with that of one device; returns the number of stages. */
    private long compare(SubtreeFactorizer on, int devices) {
      SubtreeFactor f = on.factor(problem, home);
      long[] bits = bits(f);
      if (expected.length == 0) {
        expected = bits;
      }
      if (!Arrays.equals(bits, expected)) {
        throw new AssertionError(
            name
                + " on "
                + devices
                + " devices: other bits, first at word "
                + Arrays.mismatch(bits, expected));
      }
      f.summary().warnings().forEach(System.out::println);
      return f.summary().stages();
    }
  }

  /**
   * A word for each front and for the residuals, of all bits. R itself is in memory of the session
   * that made it, which is gone when the next number of devices is opened.
   */
  private static long[] bits(SubtreeFactor f) {
    int fronts = f.fronts().size();
    long[] words = new long[fronts + 1];
    IntStream.range(0, fronts).parallel().forEach(k -> words[k] = bits(f.fronts().get(k)));
    words[fronts] = Arrays.hashCode(f.residualSquares());
    return words;
  }

  private static long bits(FrontFactor f) {
    long word = Arrays.hashCode(f.livePivot()) + 31L * Arrays.hashCode(f.rhs());
    DoubleBuffer values = f.values();
    int length = f.length();
    for (int k = 0; k < length; k++) {
      word =
          Long.rotateLeft(word * 0x9E3779B97F4A7C15L, 31)
              ^ Double.doubleToRawLongBits(values.get(k));
    }
    return word;
  }

  /** Sorts. */
  private static double median(double[] seconds) {
    Arrays.sort(seconds);
    return seconds[seconds.length / 2];
  }

  /** The plan's choice, by the model that the product uses. */
  private static void predict(SubtreeProblem problem, int most) {
    DeviceModel model = TestDevice.provider().device(0).orElseThrow();
    var tiles = CudaSubtreeFactorizer.tuned(132).tileModel();
    DeviceWork work =
        DeviceWork.of(
            problem.analysis(),
            problem.fronts(),
            problem.rows().rhsCount(),
            tiles,
            model,
            DeviceWork.Link.nvlink());
    for (int k = 1; k <= most; k++) {
      DeviceMapping.Choice choice = DeviceMapping.choose(work, k);
      DeviceMapping m = choice.mapping();
      System.out.printf(
          Locale.ROOT,
          "predicted: %d devices %.4f s, %d fronts shared, %.2f GB cross, idle %.4f s; %s%n",
          m.devices(),
          m.seconds(),
          m.shared(),
          m.copiedBytes() * 1e-9,
          m.idleSeconds(),
          choice.reason());
    }
  }
}
