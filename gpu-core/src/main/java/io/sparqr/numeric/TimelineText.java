/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.numeric.DeviceTimeline.Cause;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Timelines of devices as text: for each device a line for every cause, with its share of the block
 * slots' time and with a character for every bin, which is that share in tenths. Lines of two
 * devices begin at their own first tasks.
 *
 * <pre>
 * NVIDIA H200 (0000:18:00): 1.2000 s, 80.0% work, 123456 tasks in 264 block slots, 4 bins of 300.000 ms
 *   factorize            5.0%  11..
 *   apply               75.0%  6#95
 *   no task             20.0%  3.15
 * </pre>
 *
 * Below it, if any were measured: {@code copies 0.0512 s of 0.984 GB, 78.1% of it while tasks ran}.
 * Causes without any time are left out; {@code .} is less than a twentieth, {@code #} at least
 * nineteen of them.
 */
public final class TimelineText {

  private TimelineText() {}

  /** The text of some devices' timelines, with a line end after each line. */
  public static String of(List<DeviceTimeline> devices) {
    var text = new StringBuilder();
    devices.forEach(d -> append(text, d));
    return text.toString();
  }

  private static void append(StringBuilder text, DeviceTimeline d) {
    double work = Arrays.stream(Cause.values()).filter(Cause::work).mapToDouble(d::share).sum();
    text.append(
        String.format(
            Locale.ROOT,
            "%s: %.4f s, %.1f%% work, %d tasks in %d block slots, %d bins of %.3f ms%n",
            d.device(),
            d.seconds(),
            100 * work,
            d.tasks(),
            d.slots(),
            d.bins(),
            1e3 * d.binSeconds()));
    for (Cause c : Cause.values()) {
      if (d.share(c) != 0) {
        text.append(String.format(Locale.ROOT, "  %-17s %6.1f%%  ", c.words(), 100 * d.share(c)));
        for (int b = 0; b < d.bins(); b++) {
          text.append(tenths(d.share(c, b)));
        }
        text.append(System.lineSeparator());
      }
    }
    DeviceTimeline.Copies copies = d.copies();
    if (copies.bytes() > 0) {
      text.append(
          String.format(
              Locale.ROOT,
              "  copies %.4f s of %.3f GB, %.1f%% of it while tasks ran%n",
              copies.seconds(),
              1e-9 * copies.bytes(),
              100 * copies.hiddenSeconds() / copies.seconds()));
    }
  }

  /** A share as a character. */
  static char tenths(double share) {
    long tenths = Math.round(10 * share);
    return tenths <= 0 ? '.' : tenths >= 10 ? '#' : (char) ('0' + tenths);
  }
}
