/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockUpdated;

/** Counts the bytes of RDD blocks that Spark stores until this is closed. */
final class StoredBytes extends SparkListener implements AutoCloseable {

  private final JavaSparkContext context;
  private final AtomicLong bytes;

  StoredBytes(JavaSparkContext context, AtomicLong bytes) {
    this.context = context;
    this.bytes = bytes;
    context.sc().addSparkListener(this);
  }

  @Override
  public void onBlockUpdated(SparkListenerBlockUpdated event) {
    var info = event.blockUpdatedInfo();
    if (info.blockId().isRDD()) {
      bytes.addAndGet(info.memSize() + info.diskSize());
    }
  }

  /** Waits until all events so far have arrived. */
  void settle() {
    try {
      context.sc().listenerBus().waitUntilEmpty();
    } catch (java.util.concurrent.TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    context.sc().removeSparkListener(this);
  }
}
