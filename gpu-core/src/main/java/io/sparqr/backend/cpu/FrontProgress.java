/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.WorkListener;
import java.util.function.DoubleConsumer;

/** Converts the finished fraction of a front into flops, in the end all of the front's. */
final class FrontProgress implements DoubleConsumer {

  private final WorkListener work;
  private final double flops;
  private double told;

  FrontProgress(WorkListener work, double flops) {
    this(work, flops, 0);
  }

  /**
   * Of a front that is begun anew.
   *
   * @param before flops of it that were told before; at most all count
   */
  FrontProgress(WorkListener work, double flops, double before) {
    this.work = work;
    this.flops = flops;
    this.told = Math.min(before, flops);
  }

  /** Flops that were told, also before. */
  double told() {
    return told;
  }

  /** Takes the finished fraction, in [0, 1], never less than before. */
  @Override
  public void accept(double part) {
    double now = part * flops;
    if (now > told) {
      work.done(now - told);
      told = now;
    }
  }
}
