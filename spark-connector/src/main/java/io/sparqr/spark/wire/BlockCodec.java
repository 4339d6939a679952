/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.ContributionBlock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;

/**
 * A contribution block in chunks of at most 64 MB, so that a block of any size can be shuffled.
 * Frame fields: a = front, b = index of the chunk, c = cm, d = cn. Body:
 *
 * <pre>
 * int    right-hand sides
 * long   index of the chunk's first value in the packed trapezoid followed by the rhs part
 * int    count
 * double value[count]
 * </pre>
 */
public final class BlockCodec {

  private final int chunkValues;

  /** A codec with chunks of 64 MB. */
  public BlockCodec() {
    this(8 << 20);
  }

  BlockCodec(int chunkValues) {
    this.chunkValues = chunkValues;
  }

  /** The block's chunks, in order, at least one. */
  public List<byte[]> encode(ContributionBlock block) {
    var chunks = new ArrayList<byte[]>();
    long total = (long) block.values().length + block.rhs().length;
    long from = 0;
    do {
      int count = (int) Math.min(chunkValues, total - from);
      ByteBuffer b =
          Frame.allocate(
              Frame.Kind.BLOCK,
              block.front(),
              chunks.size(),
              block.cm(),
              block.cn(),
              16 + 8L * count);
      b.putInt(block.rhsCount()).putLong(from).putInt(count);
      int inValues = (int) Math.max(0, Math.min(count, block.values().length - from));
      if (inValues > 0) {
        Frame.putDoubles(b, block.values(), (int) from, inValues);
      }
      int rhsFrom = (int) (from + inValues - block.values().length);
      if (count > inValues) {
        Frame.putDoubles(b, block.rhs(), rhsFrom, count - inValues);
      }
      chunks.add(Frame.seal(b));
      from += count;
    } while (from < total);
    return chunks;
  }

  /** The front of a chunk's block. */
  public static int front(byte[] chunk) {
    return Frame.peek(chunk, 0);
  }

  /**
   * Assembles blocks from chunks in any order.
   *
   * @return the blocks, ascending by front
   * @throws WireFormatException if a chunk is missing, repeated, damaged or belongs to another
   *     block
   */
  public static List<ContributionBlock> decode(Iterator<byte[]> chunks) {
    var open = new TreeMap<Integer, Assembly>();
    while (chunks.hasNext()) {
      ByteBuffer b = Frame.open(chunks.next(), Frame.Kind.BLOCK);
      open.computeIfAbsent(Frame.field(b, 0), f -> new Assembly(b)).add(b);
    }
    return open.values().stream().map(Assembly::block).toList();
  }

  /**
   * A block under assembly. Its arrays are allocated once a quarter of it has arrived, so that no
   * header can allocate memory for a block that never comes; until then the chunks are kept.
   */
  private static final class Assembly {
    private static final int MOST = Integer.MAX_VALUE - 8;

    private final int front;
    private final int cm;
    private final int cn;
    private final int rhsCount;
    private final long valueCount;
    private final long total;
    private final TreeMap<Long, Integer> arrived = new TreeMap<>();
    private final List<ByteBuffer> waiting = new ArrayList<>();
    private double[] values;
    private double[] rhs;
    private long missing;

    @SuppressWarnings("NullAway.Init") // values and rhs are made by place()
    Assembly(ByteBuffer b) {
      front = Frame.field(b, 0);
      cm = Frame.field(b, 2);
      cn = Frame.field(b, 3);
      Frame.need(b, 16);
      rhsCount = b.getInt(Frame.HEADER);
      Frame.require(cm >= 0 && cn >= cm && rhsCount >= 0, "sizes of a contribution block");
      valueCount = ContributionBlock.packedLength(cm, cn);
      long rhsValues = (long) cm * rhsCount;
      Frame.require(valueCount <= MOST && rhsValues <= MOST, "sizes of a contribution block");
      total = valueCount + rhsValues;
      missing = total;
    }

    void add(ByteBuffer b) {
      Frame.need(b, 16);
      boolean same = Frame.field(b, 2) == cm && Frame.field(b, 3) == cn && b.getInt() == rhsCount;
      long from = b.getLong();
      int count = b.getInt();
      if (!same
          || from < 0
          || count < 0
          || from > total - count
          || b.remaining() != 8L * count
          || !isNew(from, count)) {
        throw new WireFormatException("chunk of front " + front + " does not fit", "chunk");
      }
      arrived.put(from, count);
      missing -= count;
      waiting.add(b.position(b.position() - 12));
      if (total - missing >= total / 4) {
        place();
      }
    }

    /** Whether none of these values has arrived before. */
    private boolean isNew(long from, int count) {
      var before = arrived.floorEntry(from);
      Long after = arrived.ceilingKey(from);
      return (count > 0 || total == 0)
          && (before == null || total > 0 && before.getKey() + before.getValue() <= from)
          && (after == null || from + count <= after);
    }

    private void place() {
      if (values == null) {
        values = new double[(int) valueCount];
        rhs = new double[(int) (total - valueCount)];
      }
      for (ByteBuffer b : waiting) {
        long from = b.getLong();
        int count = b.getInt();
        int inValues = (int) Math.max(0, Math.min(count, valueCount - from));
        if (inValues > 0) {
          Frame.getDoubles(b, values, (int) from, inValues);
        }
        if (count > inValues) {
          Frame.getDoubles(b, rhs, (int) (from + inValues - valueCount), count - inValues);
        }
      }
      waiting.clear();
    }

    ContributionBlock block() {
      if (missing != 0) {
        throw new WireFormatException(
            "contribution block of front " + front + ": " + missing + " values missing", "chunk");
      }
      return new ContributionBlock(front, cm, cn, values, rhs, rhsCount);
    }
  }
}
