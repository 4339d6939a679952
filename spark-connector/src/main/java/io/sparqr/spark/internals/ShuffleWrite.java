/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SimpleFutureAction;
import org.apache.spark.rdd.RDD;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * The stage that writes a shuffle, as a job of its own. Spark's public jobs end in a stage that
 * reads, which takes tens of milliseconds even where nothing is to be read yet.
 */
public final class ShuffleWrite {

  private ShuffleWrite() {}

  /**
   * Writes the shuffle whose pieces are this RDD's partitions, unless it is there.
   *
   * @return bytes of each partition as written, 0 only for those without an element; empty if the
   *     RDD is none of a shuffle, and nothing was done
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException never
   */
  public static Optional<long[]> run(RDD<?> read) throws InterruptedException, TimeoutException {
    if (read.dependencies().size() != 1
        || !(read.dependencies().head() instanceof ShuffleDependency<?, ?, ?> shuffle)
        || shuffle.rdd().getNumPartitions() == 0) {
      return Optional.empty();
    }
    var written = (SimpleFutureAction<?>) read.sparkContext().submitMapStage(shuffle);
    Await.result(written, Duration.Inf());
    var statistics = (org.apache.spark.MapOutputStatistics) written.value().get().get();
    return Optional.of(statistics.bytesByPartitionId());
  }
}
