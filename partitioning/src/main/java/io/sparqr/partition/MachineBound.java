/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.TileFlops;
import io.sparqr.symbolic.TileModel;
import io.sparqr.threads.Parallel;
import java.util.Arrays;

/**
 * Seconds below which no schedule of a tree's fronts comes on a machine of cores and devices, by
 * kinds of tasks: the linear program of Agullo, Augonnet, Dongarra, Faverge, Ltaief, Thibault and
 * Tomov (QR factorization on a multicore node enhanced with multiple GPU accelerators, V.E). With
 * a_f and b_f the seconds of front f on all devices and on all cores together,
 *
 * <pre>
 *   min T,   sum x_f a_f &lt;= T,   sum (1 - x_f) b_f &lt;= T,   0 &lt;= x_f &lt;= 1,
 * </pre>
 *
 * which is solved exactly in closed form: fronts go to the devices in the order of a_f / b_f, until
 * both sides end together; one kind, fronts of that ratio, is divided. No transfers, no waits, no
 * right-hand sides' solves. Beside it, no path from a leaf to a root is shorter than the least
 * seconds of its fronts one after the other, each on the cores of one executor or, column by
 * column, on devices.
 *
 * <p>What a front takes is counted: on devices the flops of its tiles, padding included ({@link
 * TileFlops}), on cores those of its staircase ({@link SymbolicAnalysis#frontFlops}). So the bound
 * is one of these algorithms, at full rank. The rates are limits of the hardware that no run
 * reaches, see {@link #DEVICE_LIMIT} and {@link #CORE_FLOPS}.
 *
 * @param deviceFlops flops per second of all devices together, 0 without devices
 * @param hostFlops flops per second of all cores together, 0 if they do not take part
 * @param frontFlops flops per second of the cores that can share a front: those of one executor
 */
public record MachineBound(double deviceFlops, double hostFlops, double frontFlops) {

  /**
   * Flops per second of the tasks of a device at most, over its FP64 peak without tensor cores. An
   * update by 32 reflectors does 8 flops for each byte of device memory that it moves: 38 TFLOP/s
   * at the 4.8 TB/s of an H200, 1.15 times that peak, and 0.8 times it on an H100. The best
   * measured is 25.3 TFLOP/s, on an H200.
   */
  public static final double DEVICE_LIMIT = 4 / 3.0;

  /** Flops per second of a core at most: two units of eight multiply-adds at 5 GHz. */
  public static final double CORE_FLOPS = 1.6e11;

  /**
   * Seconds of a column within a front at least, on a device: two dependent chains of some 130
   * cycles each, in which its norm and its products are summed.
   */
  private static final double COLUMN_SECONDS = 1e-7;

  /** Fronts for which starting another thread pays. */
  private static final int GRAIN = 256;

  /**
   * Equal workers: devices at their limit, cores at the worker's own rate, of which a model of a
   * worker does not say how many it has.
   */
  public static MachineBound ofEqual(ResourceModel.Worker like, int count) {
    double all = count * like.flopsPerSecond();
    return like.device()
        ? new MachineBound(DEVICE_LIMIT / DeviceModel.PEAK_SHARE * all, 0, 0)
        : new MachineBound(0, all, like.flopsPerSecond());
  }

  /** Which share of some seconds a bound is; 0 without seconds. */
  public static double share(double bound, double seconds) {
    return seconds > 0 ? bound / seconds : 0;
  }

  /** Checks the rates. */
  public MachineBound {
    boolean some = deviceFlops > 0 || hostFlops > 0 && frontFlops > 0;
    if (!(deviceFlops >= 0) || !(hostFlops >= frontFlops) || !(frontFlops >= 0) || !some) {
      throw new IllegalArgumentException(
          "a machine of %s flops/s on devices, %s on cores, %s for a front"
              .formatted(deviceFlops, hostFlops, frontFlops));
    }
  }

  /**
   * The bound for an analysis, in seconds. O(nf log nf), with devices about as much as the
   * analysis' staircases on all processors.
   *
   * @param rhs right-hand sides carried along
   */
  public double seconds(SymbolicAnalysis analysis, int rhs) {
    return seconds(analysis, rhs, TileModel.device());
  }

  /**
   * As above.
   *
   * @param tiles by which devices cut fronts
   */
  public double seconds(SymbolicAnalysis analysis, int rhs, TileModel tiles) {
    Parts parts = parts(analysis, rhs, tiles);
    return Math.max(parts.work, parts.path);
  }

  /**
   * Both bounds, in seconds.
   *
   * @param work by the linear program
   * @param path of the longest path to a root
   */
  record Parts(double work, double path) {}

  Parts parts(SymbolicAnalysis analysis, int rhs) {
    return parts(analysis, rhs, TileModel.device());
  }

  private Parts parts(SymbolicAnalysis analysis, int rhs, TileModel tiles) {
    int fronts = analysis.fronts();
    double[] onDevices = new double[fronts];
    double[] onCores = new double[fronts];
    double[] least = new double[fronts];
    boolean devices = deviceFlops > 0;
    double[] tiled = devices ? TileFlops.ofDevice(analysis, rhs, tiles) : new double[0];
    Parallel.loop(
        fronts,
        GRAIN,
        Runtime.getRuntime().availableProcessors(),
        (from, to, thread) -> {
          for (int f = from; f < to; f++) {
            double flops = analysis.frontFlops(f);
            onCores[f] = over(flops, hostFlops);
            onDevices[f] = over(devices ? tiled[f] : flops, deviceFlops);
            double chain = COLUMN_SECONDS * Math.min(analysis.fm(f), analysis.fn(f));
            least[f] = Math.min(over(flops, frontFlops), Math.max(onDevices[f], chain));
          }
        });
    double[] path = new double[fronts];
    double longest = 0;
    for (int f = 0; f < fronts; f++) {
      path[f] += least[f];
      longest = Math.max(longest, path[f]);
      int p = analysis.parent(f);
      if (p >= 0) {
        path[p] = Math.max(path[p], path[f]);
      }
    }
    return new Parts(ofWork(onDevices, onCores), longest);
  }

  private static double over(double flops, double rate) {
    return flops == 0 ? 0 : rate > 0 ? flops / rate : Double.POSITIVE_INFINITY;
  }

  /**
   * The optimum of the linear program.
   *
   * @param devices size n; seconds of each task on all devices together, infinite if none can do it
   * @param cores size n; the same on all cores, not infinite where devices are
   */
  static double ofWork(double[] devices, double[] cores) {
    int n = devices.length;
    double[] ratio = new double[n];
    for (int f = 0; f < n; f++) {
      boolean cheap = devices[f] == 0 || Double.isInfinite(cores[f]);
      ratio[f] = cheap ? 0 : devices[f] / cores[f];
    }
    double[] kinds = ratio.clone();
    Arrays.sort(kinds);
    int low = 0;
    int high = n - 1;
    // The first kind with which the devices have as much to do as the cores have with the rest.
    while (low < high) {
      int middle = (low + high) >>> 1;
      Split s = Split.at(kinds[middle], ratio, devices, cores);
      if (s.devicesBelow + s.devicesAt >= s.coresAbove) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return n == 0 ? 0 : Split.at(kinds[low], ratio, devices, cores).seconds();
  }

  /** Fronts of smaller ratio on devices, of larger ones on cores, and those of a ratio on both. */
  private record Split(double devicesBelow, double devicesAt, double coresAt, double coresAbove) {

    static Split at(double kind, double[] ratio, double[] devices, double[] cores) {
      double below = 0;
      double onDevices = 0;
      double onCores = 0;
      double above = 0;
      for (int f = 0; f < ratio.length; f++) {
        if (ratio[f] < kind) {
          below += devices[f];
        } else if (ratio[f] > kind) {
          above += cores[f];
        } else {
          onDevices += devices[f];
          onCores += cores[f];
        }
      }
      return new Split(below, onDevices, onCores, above);
    }

    /** The kind divided so that both sides end together, if they can. */
    double seconds() {
      if (Double.isInfinite(devicesAt)) {
        return Math.max(devicesBelow, coresAt + coresAbove);
      }
      if (Double.isInfinite(coresAt)) {
        return Math.max(devicesBelow + devicesAt, coresAbove);
      }
      double both = devicesAt + coresAt;
      double share = both == 0 ? 0 : (coresAbove + coresAt - devicesBelow) / both;
      double there = Math.max(0, Math.min(1, share));
      return Math.max(devicesBelow + there * devicesAt, coresAbove + (1 - there) * coresAt);
    }
  }
}
