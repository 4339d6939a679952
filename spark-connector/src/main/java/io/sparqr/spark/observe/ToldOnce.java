/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.ProgressListener;

/**
 * A listener that remembers whether it has received a failure, for solves that consist of several.
 */
public final class ToldOnce implements ProgressListener {

  private final ProgressListener listener;
  private boolean told;

  public ToldOnce(ProgressListener listener) {
    this.listener = listener;
  }

  /** Whether anyone listens to progress, so that tasks have to be counted. */
  static boolean hears(ProgressListener listener) {
    return listener instanceof ToldOnce once ? hears(once.listener) : listener != NONE;
  }

  public boolean told() {
    return told;
  }

  @Override
  public void update(Progress progress) {
    listener.update(progress);
  }

  @Override
  public void failed(FailureReport report) {
    told = true;
    listener.failed(report);
  }
}
