/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;

/**
 * What the thread blocks of a device did while it ran a stage, by cause and by bin of time, as the
 * blocks themselves measured it by the device's timer. Timers of two devices are not one clock:
 * each device's time begins at its own first task. At most {@link #MOST_BINS} bins.
 *
 * <p>In every bin, the seconds of all causes add up to {@link #slots} times the {@link #length} of
 * the bin.
 *
 * @param device name and PCI address
 * @param slots blocks that the device can run at the same time
 * @param seconds from the begin of the first task to the end of the last one
 * @param tasks tasks that ended
 * @param binSeconds length of a bin; the last one ends with the stage
 * @param blockSeconds size causes x bins, in the order of {@link Cause}: seconds summed over all
 *     blocks; not copied
 * @param copies between host and device
 */
public record DeviceTimeline(
    String device,
    int slots,
    double seconds,
    long tasks,
    double binSeconds,
    double[][] blockSeconds,
    Copies copies)
    implements Serializable {

  /**
   * Copies of a stage: values and lists to the device, rows from it.
   *
   * @param seconds while any was under way
   * @param hiddenSeconds the part of it between the begin of the first task and the end of the last
   * @param bytes of all
   */
  public record Copies(double seconds, double hiddenSeconds, long bytes) implements Serializable {

    /** None, or not measured. */
    public static final Copies NONE = new Copies(0, 0, 0);
  }

  /** Bins of a timeline at most: as many as a line of text shows. */
  public static final int MOST_BINS = 64;

  /** What a block slot does; the order of SPARQR_WORK_.. and SPARQR_WAIT_.. of the kernels. */
  public enum Cause {
    /** Factorizes bundles. */
    FACTORIZE("factorize"),
    /** Applies reflectors. */
    APPLY("apply"),
    /** Does a small front. */
    SMALL_FRONT("small fronts"),
    /** Assembles, packs, sums residuals, drops dead columns. */
    ASSEMBLE("assemble and pack"),
    /** Takes a part of a front from another device. */
    PULL("pull"),
    /** Waits for a bundle of the front: made on the device, or to be pulled by another block. */
    WAIT_CHAIN("wait for chain"),
    /** Waits for entries, blocks or updates of the front on its device. */
    WAIT_BULK("wait for bulk"),
    /** Is about to pull, and waits until the other device announces the part. */
    WAIT_DEVICE("wait for device"),
    /** Has no task: between two, which takes a microsecond or two, or at the end of the list. */
    NO_TASK("no task");

    /** Causes that the kernels count. */
    public static final int COUNTED = NO_TASK.ordinal();

    private final String words;

    Cause(String words) {
      this.words = words;
    }

    /** The cause in words, of at most 17 characters. */
    public String words() {
      return words;
    }

    /** Whether the slot does work of the factorization. */
    public boolean work() {
      return compareTo(WAIT_CHAIN) < 0;
    }
  }

  /**
   * A timeline from the kernels' counts.
   *
   * @param nanos from the first ticket to the end of the last task
   * @param binNanos length of a bin of the counts, positive
   * @param counted nanoseconds of bin b and cause c at {@code Cause.COUNTED * b + c}; the last bin
   *     has all that came after it, too
   */
  public static DeviceTimeline of(
      String device, int slots, long nanos, long tasks, long binNanos, long[] counted) {
    int all = counted.length / Cause.COUNTED;
    int used = (int) Math.max(1, Math.min(all, (nanos + binNanos - 1) / binNanos));
    int group = (used + MOST_BINS - 1) / MOST_BINS;
    int bins = (used + group - 1) / group;
    double length = 1e-9 * group * binNanos;
    double[][] spent = new double[Cause.values().length][bins];
    for (int b = 0; b < bins; b++) {
      double end = b == bins - 1 ? 1e-9 * nanos : length * (b + 1);
      spent[Cause.COUNTED][b] = slots * (end - length * b);
    }
    for (int b = 0; b < all; b++) {
      int to = Math.min(b / group, bins - 1);
      for (int c = 0; c < Cause.COUNTED; c++) {
        double seconds = 1e-9 * counted[Cause.COUNTED * b + c];
        spent[c][to] += seconds;
        spent[Cause.COUNTED][to] -= seconds;
      }
    }
    return new DeviceTimeline(device, slots, 1e-9 * nanos, tasks, length, spent, Copies.NONE);
  }

  /** A copy with other copies. */
  public DeviceTimeline withCopies(Copies other) {
    return new DeviceTimeline(device, slots, seconds, tasks, binSeconds, blockSeconds, other);
  }

  @Override
  public String toString() {
    return TimelineText.of(List.of(this));
  }

  /** Number of bins. */
  public int bins() {
    return blockSeconds[0].length;
  }

  /** Seconds from the begin of a bin to its end. */
  public double length(int bin) {
    return bin < bins() - 1 ? binSeconds : seconds - binSeconds * (bins() - 1);
  }

  /** Share of the slots' time, about 0 to 1. */
  public double share(Cause cause) {
    double whole = slots * seconds;
    return whole > 0 ? Arrays.stream(blockSeconds[cause.ordinal()]).sum() / whole : 0;
  }

  /** Share of the slots' time in a bin, about 0 to 1. */
  public double share(Cause cause, int bin) {
    double whole = slots * length(bin);
    return whole > 0 ? blockSeconds[cause.ordinal()][bin] / whole : 0;
  }
}
