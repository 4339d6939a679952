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
 * A plan that writes itself and reads itself frame by frame, each after its length, so that a
 * serializer never has all of it. A Hadoop Writable for the sake of Spark's wrapper of these, which
 * every serializer of Spark's can write. Public for Hadoop, which makes it by its constructor.
 */
public final class PlanStream implements Writable {

  private SolvePlan plan;

  /** To be read. */
  public PlanStream() {}

  /** To be written. */
  public PlanStream(SolvePlan plan) {
    this.plan = plan;
  }

  /** What was read, or is to be written. */
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
