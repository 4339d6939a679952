/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.resource.Held;
import java.io.Serializable;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/** A frame for one task: in the task itself if it is small, else a broadcast that only it reads. */
record TaskInput(byte[] near, Broadcast<byte[]> far) implements Serializable {

  private static final int INLINE_BYTES = 256 << 10;

  static TaskInput of(JavaSparkContext context, Held held, byte[] frame) {
    return frame.length <= INLINE_BYTES
        ? new TaskInput(frame, null)
        : new TaskInput(null, held.keep(context.broadcast(frame)));
  }

  byte[] frame() {
    return near != null ? near : far.value();
  }
}
