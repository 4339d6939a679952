/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import java.util.UUID;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Job group and description of the calling thread while a solve runs; what the caller had set comes
 * back on close. Cancelling the group ({@code sc.cancelJobGroup}) cancels the solve.
 */
public final class JobScope implements AutoCloseable {

  private static final String[] KEYS = {
    "spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"
  };

  private final JavaSparkContext context;
  private final String[] before = new String[KEYS.length];
  private final String group;

  /** Begins a scope; a caller's own job group is kept, so that its cancellation reaches us. */
  public JobScope(JavaSparkContext context) {
    this.context = context;
    for (int k = 0; k < KEYS.length; k++) {
      before[k] = context.getLocalProperty(KEYS[k]);
    }
    group = before[0] != null ? before[0] : "sparqr-" + UUID.randomUUID();
    if (before[0] == null) {
      context.setJobGroup(group, "sparse QR", true);
    }
  }

  /** Names the jobs to come, such as "level 2 of 4, 37 subtrees, 1.9 TFLOP". */
  public void describe(String what) {
    context.setLocalProperty(KEYS[1], "sparse QR: " + what);
  }

  /** The job group in force. */
  public String group() {
    return group;
  }

  @Override
  public void close() {
    for (int k = 0; k < KEYS.length; k++) {
      context.setLocalProperty(KEYS[k], before[k]);
    }
  }
}
