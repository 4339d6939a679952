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
    this.work = work;
    this.flops = flops;
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
