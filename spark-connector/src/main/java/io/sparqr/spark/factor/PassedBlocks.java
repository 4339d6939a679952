/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.parts.Parts;
import scala.Tuple2;

/**
 * The contribution blocks of a level on their way to the tasks above. They are stored only until
 * they are written to the shuffle, which is done before the first of those tasks begins, so that
 * these have the memory. Spark keeps the shuffle's files; what is lost of them is made again by the
 * tasks of the level ({@link PassedRdd}). Without Spark the shuffle is in memory, and goes when all
 * have read it.
 */
final class PassedBlocks {

  private final Engine engine;
  private final String name;
  private final Parts<byte[]> stored;
  private final Parts<Tuple2<Integer, byte[]>> shuffled;
  private final int lastReceiver;
  private boolean written;

  /**
   * Blocks that are not written yet.
   *
   * @param name of the job that writes them
   * @param stored as their tasks left them
   * @param shuffled the same, partition = receiving task
   * @param lastReceiver the highest level with a task that reads them
   */
  PassedBlocks(
      Engine engine,
      String name,
      Parts<byte[]> stored,
      Parts<Tuple2<Integer, byte[]>> shuffled,
      int lastReceiver) {
    this.engine = engine;
    this.name = name;
    this.stored = stored;
    this.shuffled = shuffled;
    this.lastReceiver = lastReceiver;
  }

  /** The blocks by receiving task. */
  Parts<Tuple2<Integer, byte[]>> shuffled() {
    return shuffled;
  }

  /** Writes the shuffle, once; the blocks are then no longer stored. */
  void write() {
    if (!written) {
      // Task 0 is of the lowest level and receives no block: the job reads nothing.
      JobScope.run(engine, name, () -> shuffled.collect(0));
      stored.release();
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
