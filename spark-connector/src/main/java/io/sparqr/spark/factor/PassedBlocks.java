/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.parts.Parts;
import scala.Tuple2;

/**
 * The contribution blocks of a level on their way to the tasks above. With Spark the tasks of the
 * level write them to the shuffle when they end ({@link PassedRdd}), so that they take no memory
 * from those above. Spark keeps the shuffle's files; what is lost of them is made again by the
 * tasks of the level. Without Spark the blocks stay in memory until all have read them.
 */
final class PassedBlocks {

  private final Engine engine;
  private final String name;
  private final Parts<Tuple2<Integer, byte[]>> shuffled;
  private final int lastReceiver;
  private boolean written;

  /**
   * Blocks that are not written yet.
   *
   * @param name of the job that writes them
   * @param shuffled partition = receiving task
   * @param lastReceiver the highest level with a task that reads them
   */
  PassedBlocks(
      Engine engine, String name, Parts<Tuple2<Integer, byte[]>> shuffled, int lastReceiver) {
    this.engine = engine;
    this.name = name;
    this.shuffled = shuffled;
    this.lastReceiver = lastReceiver;
  }

  /** The blocks by receiving task. */
  Parts<Tuple2<Integer, byte[]>> shuffled() {
    return shuffled;
  }

  /** Has the level's tasks run, with Spark, and write their blocks; once. */
  void write() {
    if (!written) {
      JobScope.run(engine, name, shuffled::write);
      written = true;
    }
  }

  /** Tells that the tasks of a level have read what they need. */
  void readBy(int level) {
    if (level == lastReceiver) {
      shuffled.release();
    }
  }
}
