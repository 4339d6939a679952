/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.NumberStream;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;

/**
 * A plan that is written and read frame by frame, each preceded by its length, so that a serializer
 * never holds all of it. Implements Hadoop's Writable because all of Spark's serializers can write
 * Spark's wrapper of that. Public because Hadoop calls the constructor.
 */
public final class PlanStream implements Writable {

  private SolvePlan plan;

  /** An empty stream, to be read into. */
  @SuppressWarnings("NullAway.Init")
  public PlanStream() {}

  /** A stream that writes a plan. */
  public PlanStream(SolvePlan plan) {
    this.plan = plan;
  }

  /** The plan read or to be written. */
  public SolvePlan plan() {
    return plan;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    PlanCodec.write(
        plan,
        frame -> {
          out.writeInt(frame.length);
          out.write(frame);
        });
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    plan =
        PlanCodec.read(
            () -> {
              int length = in.readInt();
              if (length < Frame.HEADER || length > Frame.HEADER + NumberStream.CHUNK) {
                throw new WireFormatException("a plan's frame of " + length + " bytes", "length");
              }
              byte[] frame = new byte[length];
              in.readFully(frame);
              return frame;
            });
  }
}
