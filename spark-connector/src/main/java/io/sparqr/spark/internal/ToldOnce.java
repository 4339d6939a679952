/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.FailureReport;
import io.sparqr.spark.ProgressListener;

/**
 * A listener that remembers whether it has received a failure, for solves that consist of several.
 */
final class ToldOnce implements ProgressListener {

  private final ProgressListener listener;
  private boolean told;

  ToldOnce(ProgressListener listener) {
    this.listener = listener;
  }

  /** Whether anyone listens to progress, so that tasks have to be counted. */
  static boolean hears(ProgressListener listener) {
    return listener instanceof ToldOnce once ? hears(once.listener) : listener != NONE;
  }

  boolean told() {
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
