/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.util.Locale;
import java.util.function.IntFunction;

/**
 * The devices of each front of a task, and what is foretold for them. Fronts are numbered as in
 * {@link DeviceWork}.
 *
 * @param devices used: 0 .. devices - 1
 * @param first size fronts; the first device of each front
 * @param count size fronts; number of devices, more than one for a shared front
 * @param seconds foretold, with {@link ResourceModel#DEVICE_LEVEL_SECONDS} for the begin of several
 * @param pathSeconds the longest path of fronts and copies to the root; no schedule is shorter
 * @param busySeconds size devices; the rest of {@code seconds} a device waits
 * @param bytes size devices; fronts, blocks from other devices and VT slots
 * @param copiedBytes over the link
 */
public record DeviceMapping(
    int devices,
    int[] first,
    int[] count,
    double seconds,
    double pathSeconds,
    double[] busySeconds,
    long[] bytes,
    double copiedBytes) {

  /**
   * A choice.
   *
   * @param reason one line for the report; empty where there is but one device
   */
  public record Choice(DeviceMapping mapping, String reason) {}

  /** Whether the block of front f goes from one device to another. */
  public boolean crosses(int f, int parent) {
    return parent >= 0 && !(count[f] == 1 && count[parent] == 1 && first[f] == first[parent]);
  }

  /** Number of shared fronts. */
  public int shared() {
    int shared = 0;
    for (int c : count) {
      shared += c > 1 ? 1 : 0;
    }
    return shared;
  }

  /** The longest wait of a device, in seconds. */
  public double idleSeconds() {
    double idle = 0;
    for (double busy : busySeconds) {
      idle = Math.max(idle, seconds - busy);
    }
    return idle;
  }

  /**
   * Takes so many of the devices that more are not foretold to be faster by {@link
   * PayingWorkers#LEAST_GAIN}. More devices than hold the fronts in their memory are not tried; one
   * always is, because stages of memory are its business.
   */
  public static Choice choose(DeviceWork work, int devices) {
    if (devices < 1) {
      throw new IllegalArgumentException("a task needs a device, not " + devices);
    }
    return choose(work, devices, k -> new DeviceMapper(work, k).map());
  }

  private static Choice choose(DeviceWork work, int devices, IntFunction<DeviceMapping> mappings) {
    DeviceMapping best = mappings.apply(1);
    long most = Math.max(work.memoryBytes(), best.bytes[0]);
    double one = best.seconds;
    double least = Double.POSITIVE_INFINITY;
    for (int k = 1; k <= devices; k++) {
      DeviceMapping m = k == 1 ? best : mappings.apply(k);
      boolean fits = true;
      for (long b : m.bytes) {
        fits &= b <= most;
      }
      if (k > 1 && fits) {
        least = Math.min(least, m.seconds);
        best = m.seconds * PayingWorkers.LEAST_GAIN <= best.seconds ? m : best;
      }
    }
    String reason = "";
    if (devices > 1) {
      reason =
          String.format(
              Locale.ROOT,
              best.devices > 1
                  ? "%d of %d devices: predicted %.3g s, on one %.3g s"
                  : "%d of %d devices: predicted %.3g s, with more of them %.3g s,"
                      + " which does not pay",
              best.devices,
              devices,
              best.seconds,
              best.devices > 1 ? one : least);
    }
    return new Choice(best, reason);
  }
}
