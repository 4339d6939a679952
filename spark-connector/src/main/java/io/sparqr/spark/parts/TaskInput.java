/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.Held;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * One frame for each task of a level: inside the task if it is small, otherwise as a broadcast that
 * only that task reads. The RDD's elements are byte arrays, which every serializer of Spark can
 * handle: the frame, or the number (4 bytes) of its broadcast.
 */
public final class TaskInput implements Serializable {

  private static final long serialVersionUID = 1;
  private static final int INLINE_BYTES = 256 << 10;

  private final ArrayList<Broadcast<byte[]>> far = new ArrayList<>();
  private final transient JavaSparkContext context;
  private final transient List<byte[]> elements;

  /** Input in which frame i is for partition i. */
  public TaskInput(JavaSparkContext context, Held held, List<byte[]> frames) {
    var near = new ArrayList<byte[]>();
    for (byte[] frame : frames) {
      if (frame.length <= INLINE_BYTES) {
        near.add(frame);
      } else {
        near.add(ByteBuffer.allocate(4).putInt(far.size()).array());
        far.add(held.keep(context.broadcast(frame)));
      }
    }
    this.context = context;
    this.elements = near;
  }

  /** One element for each partition; on the driver. */
  public List<byte[]> elements() {
    return elements;
  }

  /** An RDD with one element per partition; on the driver. */
  public JavaRDD<byte[]> rdd() {
    return context.parallelize(elements, elements.size());
  }

  /** The frame for an element; on an executor. */
  public byte[] frame(byte[] element) {
    return element.length > 4 ? element : far.get(ByteBuffer.wrap(element).getInt()).value();
  }
}
