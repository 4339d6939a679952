/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.StorageLevel;
import org.slf4j.LoggerFactory;

/** All persisted RDDs and broadcasts of a solve: released together, newest first. */
public final class Held implements AutoCloseable {

  private final Deque<Runnable> release = new ArrayDeque<>();
  private boolean closed;

  /** Persists an RDD until {@link #close()}. */
  public <T> JavaRDD<T> persist(JavaRDD<T> rdd, StorageLevel level) {
    rdd.persist(level);
    release.push(() -> rdd.unpersist(false));
    return rdd;
  }

  /** Persists an RDD of pairs until {@link #close()}. */
  public <K, V> JavaPairRDD<K, V> persist(JavaPairRDD<K, V> rdd, StorageLevel level) {
    rdd.persist(level);
    release.push(() -> rdd.unpersist(false));
    return rdd;
  }

  /** Keeps a broadcast until {@link #close()}. */
  public <T> Broadcast<T> keep(Broadcast<T> broadcast) {
    release.push(() -> broadcast.destroy());
    return broadcast;
  }

  /** Runs an action on {@link #close()}. */
  public void onClose(Runnable action) {
    release.push(action);
  }

  /** Whether {@link #close()} has been called. */
  public boolean closed() {
    return closed;
  }

  /**
   * Releases everything; skips anything that can no longer be released (a stopped context).
   * Idempotent.
   */
  @Override
  public void close() {
    closed = true;
    while (!release.isEmpty()) {
      try {
        release.pop().run();
      } catch (RuntimeException e) {
        LoggerFactory.getLogger(Held.class).debug("nothing to release any more", e);
      }
    }
  }
}
