/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.spark.engine.Engine;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.util.CollectionAccumulator;

/**
 * What tasks tell the driver as they end, as some small frames: a subtree's report, a partition's
 * figures and patterns. It comes with Spark's own message that the task has ended, and spares a
 * stage that would fetch it. A task that has run twice tells the same twice, of which the first
 * counts; one whose attempt failed after it had stored what it made may tell nothing: then that is
 * to be fetched.
 *
 * <p>It uses an accumulator of Spark's own class, because Spark deserializes the updates of tasks
 * with the application's class loader, which does not see the classes of a jar that is an artifact
 * of a Spark Connect session.
 */
public final class Told implements Serializable {

  private static final long serialVersionUID = 1;

  private final CollectionAccumulator<byte[]> said = new CollectionAccumulator<>();

  /** What the tasks of an engine tell. Spark drops it once this object is garbage. */
  public static Told of(Engine engine) {
    var told = new Told();
    engine.register(told.said, "");
    return told;
  }

  /** Tells the frames of a task; called within it. */
  public void tell(int task, List<byte[]> frames) {
    int bytes = frames.stream().mapToInt(f -> Integer.BYTES + f.length).sum();
    ByteBuffer all = ByteBuffer.allocate(Integer.BYTES + bytes).putInt(task);
    frames.forEach(f -> all.putInt(f.length).put(f));
    said.add(all.array());
  }

  /**
   * What these tasks have told, in their order; empty unless all of them have. On the driver, which
   * then forgets all that was told.
   *
   * @param first the first task
   */
  public Optional<List<List<byte[]>>> take(int first, int count) {
    var byTask = new TreeMap<Integer, List<byte[]>>();
    for (byte[] one : said.value()) {
      ByteBuffer all = ByteBuffer.wrap(one);
      int task = all.getInt();
      var frames = new ArrayList<byte[]>();
      while (all.hasRemaining()) {
        byte[] frame = new byte[all.getInt()];
        all.get(frame);
        frames.add(frame);
      }
      byTask.putIfAbsent(task, frames);
    }
    said.reset();
    var level = byTask.subMap(first, first + count);
    return level.size() == count ? Optional.of(new ArrayList<>(level.values())) : Optional.empty();
  }
}
