/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.numeric.ContributionRhs;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The input and output of a task when Q' is applied to further right-hand sides. Frame fields: a =
 * positions, b = right-hand sides (width), c = blocks, d = values of all blocks. Body:
 *
 * <pre>
 * int    position[a]
 * double value[a * b]
 * double residual[b]
 * int    front[c], values[c]
 * double value[d]
 * </pre>
 */
public final class ReflectedCodec {

  private ReflectedCodec() {}

  /**
   * Part of Q'b.
   *
   * @param position positions of live pivots
   * @param value width values for each position
   * @param residual size width: norms of the components that end in this task
   * @param blocks right-hand sides of contribution blocks
   */
  public record Reflected(
      int width, int[] position, double[] value, double[] residual, List<ContributionRhs> blocks) {

    /** The values passed from lower tasks to one above. */
    public static Reflected blocks(int width, List<ContributionRhs> blocks) {
      return new Reflected(width, new int[0], new double[0], new double[width], blocks);
    }
  }

  /** Encodes the values as a frame. */
  public static byte[] encode(Reflected r) {
    long values = 0;
    for (ContributionRhs c : r.blocks) {
      values += c.values().length;
    }
    long bytes =
        4L * r.position.length
            + 8L * (r.value.length + r.residual.length)
            + 8L * r.blocks.size()
            + 8 * values;
    ByteBuffer b =
        Frame.allocate(
            Frame.Kind.REFLECTED,
            r.position.length,
            r.width,
            r.blocks.size(),
            (int) Math.min(values, Integer.MAX_VALUE),
            bytes);
    Frame.putInts(b, r.position, 0, r.position.length);
    Frame.putDoubles(b, r.value, 0, r.value.length);
    Frame.putDoubles(b, r.residual, 0, r.width);
    for (ContributionRhs c : r.blocks) {
      b.putInt(c.front());
    }
    for (ContributionRhs c : r.blocks) {
      b.putInt(c.values().length);
    }
    for (ContributionRhs c : r.blocks) {
      Frame.putDoubles(b, c.values(), 0, c.values().length);
    }
    return Frame.seal(b);
  }

  /** The inverse of {@link #encode}. */
  public static Reflected decode(byte[] frame) {
    ByteBuffer b = Frame.open(frame, Frame.Kind.REFLECTED);
    int count = Frame.field(b, 0);
    int width = Frame.field(b, 1);
    Frame.require(count >= 0 && width >= 0, "sizes of a part of Q'b");
    int[] position = Frame.getInts(b, count);
    Frame.need(b, 8L * Math.min((long) count * width, Integer.MAX_VALUE));
    double[] value = Frame.getDoubles(b, count * width);
    double[] residual = Frame.getDoubles(b, width);
    int[] front = Frame.getInts(b, Frame.field(b, 2));
    int[] length = Frame.getInts(b, front.length);
    var blocks = new ArrayList<ContributionRhs>();
    for (int k = 0; k < front.length; k++) {
      blocks.add(new ContributionRhs(front[k], Frame.getDoubles(b, length[k])));
    }
    Frame.end(b);
    return new Reflected(width, position, value, residual, blocks);
  }
}
