/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.python;

import io.sparqr.spark.report.ProgressListener;

/**
 * The latest progress of a solve, for polling: Py4J has no cheap way for the JVM to call Python.
 */
public final class ProgressState implements ProgressListener {

  private volatile Progress last = new Progress("", "", 0, 0);

  @Override
  public void update(Progress progress) {
    last = progress;
  }

  /**
   * The progress in one round trip: phase, detail, fraction, elapsed seconds, flops done, flops,
   * remaining seconds (NaN: unknown), separated by tabs.
   */
  public String line() {
    Progress p = last;
    return String.join(
        "\t",
        p.phase(),
        p.detail().replace('\t', ' '),
        Double.toString(p.fraction()),
        Double.toString(p.elapsedSeconds()),
        Double.toString(p.flopsDone()),
        Double.toString(p.flops()),
        Double.toString(p.remainingSeconds()));
  }
}
