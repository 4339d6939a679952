/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.reference.DeviceBits;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.partition.DeviceMapping;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.DeviceWork;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * One task on 1, 2, .. devices of this host, in turn in one process: seconds of a factorization
 * whose R stays on the first device, values of A on the host before, plan made before; how much
 * faster than on one; what was predicted. First each number of devices brings R to the host, and
 * its bits are those of one device. Arguments: problems as for {@link DeviceTable}. The system
 * property devices.repeats: how many times each (default 7); devices.most: at most so many devices.
 */
final class DevicesSpeed {

  private static final int REPEATS = Integer.getInteger("devices.repeats", 7);

  private DevicesSpeed() {}

  public static void main(String[] problems) {
    int most = Integer.getInteger("devices.most", TestDevice.provider().devices());
    for (String problem : problems) {
      String[] part = problem.split("@");
      try {
        measure(part[0], part.length > 1 ? part[1] : "auto", most);
      } catch (RuntimeException | AssertionError | OutOfMemoryError e) {
        System.out.println(problem + ": " + e);
        e.printStackTrace(System.out);
      }
    }
  }

  private static void measure(String name, String ordering, int most) {
    CsrMatrix a = DeviceTable.matrix(name);
    SubtreeProblem problem = DeviceTable.problem(a, DeviceTable.analysis(a, ordering));
    int threads = Runtime.getRuntime().availableProcessors();
    double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), 1);
    FactorOptions home = new FactorOptions(tolerance, threads, 0).ofUnitColumns(true);
    FactorOptions stays = home.staying(true).alone(true);
    predict(problem, most);
    SubtreeFactor expected = null;
    double[][] wall = new double[most][REPEATS];
    SubtreeFactorizer[] on = new SubtreeFactorizer[most];
    try {
      for (int k = 0; k < most; k++) {
        on[k] = TestDevice.provider().create(IntStream.rangeClosed(0, k).boxed().toList());
        SubtreeFactor f = on[k].factor(problem, home);
        expected = expected == null ? f : expected;
        DeviceBits.assertSame(f, expected, name + " on " + (k + 1) + " devices");
        f.summary().warnings().forEach(System.out::println);
      }
      // In turn, so that all see the same machine.
      for (int r = -2; r < REPEATS; r++) {
        for (int k = 0; k < most; k++) {
          long t0 = System.nanoTime();
          on[k].factor(problem, stays).residence().close();
          wall[k][Math.max(0, r)] = (System.nanoTime() - t0) * 1e-9;
        }
      }
    } finally {
      for (SubtreeFactorizer f : on) {
        if (f != null) {
          f.close();
        }
      }
    }
    double one = median(wall[0]);
    for (int k = 0; k < most; k++) {
      System.out.printf(
          Locale.ROOT,
          "%-22s %-7s %d devices | factorize %8.4f s (best %8.4f) | %.2f times one | %.2f TFLOP/s"
              + " useful | same bits%n",
          name,
          ordering,
          k + 1,
          median(wall[k]),
          wall[k][0],
          one / median(wall[k]),
          problem.analysis().flops() * 1e-12 / median(wall[k]));
    }
  }

  private static double median(double[] sorted) {
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
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
