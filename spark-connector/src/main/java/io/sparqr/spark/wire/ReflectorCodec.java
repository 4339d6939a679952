/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.dense.ReflectorBlock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Q in the form stored with R on an executor: records of consecutive fronts, about 32 MB per frame,
 * so that Q of a front may have any size. A front is one record with the places of its rows,
 * followed by its reflectors in pieces of about 1 MB, in the same frame or the next ones. Frame
 * fields: a = records, b = index of the frame. Body, one record after the other:
 *
 * <pre>
 * int    0 (a front)
 * int    front, rows, own, children, childRows, rank, cm
 * int    own[own], child[children], childStart[children + 1], childRow[childRows]
 * int    livePivot[rank]       complement (~) if the row of R was negated
 * int    result[rank + cm]
 *
 * int    1 (reflectors of the preceding front)
 * int    segments, reflectors, values
 * int    segment[segments], first[reflectors], length[reflectors]
 * double tau[reflectors], v[values]
 * </pre>
 */
public final class ReflectorCodec {

  private static final long FRAME_BYTES = 32L << 20;
  private static final int PIECE_VALUES = 1 << 17;
  private static final int FRONT = 0;
  private static final int BLOCK = 1;

  private ReflectorCodec() {}

  /** The receiver of the records, in order. */
  public interface Visitor {
    /** A front, with an empty list of blocks. */
    void front(FrontReflectors front);

    /** Some reflectors of the last front. */
    void block(ReflectorBlock block);
  }

  /**
   * Encodes Q of a task's fronts as frames.
   *
   * @param fronts in order; entries are set to null as soon as they are encoded
   */
  public static List<byte[]> encode(List<FrontReflectors> fronts) {
    return encode(fronts, FRAME_BYTES, PIECE_VALUES);
  }

  static List<byte[]> encode(List<FrontReflectors> fronts, long frameBytes, int pieceValues) {
    var out = new Encoder(frameBytes);
    for (int i = 0; i < fronts.size(); i++) {
      FrontReflectors f = fronts.get(i);
      out.add(new FrontRecord(f.withoutBlocks()));
      for (ReflectorBlock b : f.blocks()) {
        addPieces(b, pieceValues, out);
      }
      fronts.set(i, null);
    }
    out.flush();
    return out.frames;
  }

  private static void addPieces(ReflectorBlock b, int pieceValues, Encoder out) {
    int from = 0;
    int valueFrom = 0;
    while (from < b.count()) {
      int to = from;
      int values = 0;
      do {
        values += b.length()[to++] - 1;
      } while (to < b.count() && values + b.length()[to] - 1 <= pieceValues);
      out.add(new BlockRecord(b, from, to, valueFrom, values));
      from = to;
      valueFrom += values;
    }
  }

  /**
   * Reads a frame.
   *
   * @throws WireFormatException if it is damaged or inconsistent
   */
  public static void read(byte[] frame, Visitor visitor) {
    ByteBuffer b = Frame.open(frame, Frame.Kind.REFLECTORS);
    int records = Frame.field(b, 0);
    for (int r = 0; r < records; r++) {
      Frame.need(b, 4);
      int kind = b.getInt();
      try {
        if (kind == FRONT) {
          visitor.front(front(b));
        } else if (kind == BLOCK) {
          visitor.block(block(b));
        } else {
          throw new WireFormatException("REFLECTORS frame: record of kind " + kind, "record");
        }
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw new WireFormatException("REFLECTORS frame: " + e.getMessage(), "record");
      }
    }
    Frame.end(b);
  }

  private static FrontReflectors front(ByteBuffer b) {
    int[] head = Frame.getInts(b, 7);
    int[] own = Frame.getInts(b, head[2]);
    int[] child = Frame.getInts(b, head[3]);
    int[] childStart = Frame.getInts(b, child.length + 1);
    int[] childRow = Frame.getInts(b, head[4]);
    int[] live = Frame.getInts(b, head[5]);
    Frame.require(head[6] >= 0, "rows of a block");
    Frame.need(b, 4L * ((long) head[5] + head[6]));
    int[] result = Frame.getInts(b, head[5] + head[6]);
    for (int c = 0; c < child.length; c++) {
      Frame.require(childStart[c] >= 0 && childStart[c] <= childStart[c + 1], "children's rows");
    }
    boolean[] negative = new boolean[live.length];
    for (int i = 0; i < live.length; i++) {
      negative[i] = live[i] < 0;
      live[i] = negative[i] ? ~live[i] : live[i];
    }
    var children = new FrontReflectors.ChildRows(child, childStart, childRow);
    return new FrontReflectors(head[0], head[1], own, children, live, negative, result, List.of());
  }

  private static ReflectorBlock block(ByteBuffer b) {
    int[] head = Frame.getInts(b, 3);
    int[] segments = Frame.getInts(b, head[0]);
    int[] first = Frame.getInts(b, head[1]);
    int[] length = Frame.getInts(b, head[1]);
    double[] tau = Frame.getDoubles(b, head[1]);
    var block = new ReflectorBlock(segments, first, length, tau, Frame.getDoubles(b, head[2]));
    Frame.require(block.end() >= 0, "runs of rows");
    return block;
  }

  /** A part of a frame. */
  private sealed interface Piece {
    long bytes();

    void write(ByteBuffer b);
  }

  private record FrontRecord(FrontReflectors f) implements Piece {
    @Override
    public long bytes() {
      FrontReflectors.ChildRows children = f.children();
      long ints = 8L + f.own().length + 2L * children.child().length + 1 + children.row().length;
      return 4 * (ints + f.rank() + f.result().length);
    }

    @Override
    public void write(ByteBuffer b) {
      b.putInt(FRONT).putInt(f.front()).putInt(f.rows()).putInt(f.own().length);
      FrontReflectors.ChildRows children = f.children();
      b.putInt(children.child().length).putInt(children.row().length);
      b.putInt(f.rank()).putInt(f.cm());
      putAll(b, f.own());
      putAll(b, children.child());
      putAll(b, children.start());
      putAll(b, children.row());
      int[] live = f.livePivot().clone();
      for (int i = 0; i < live.length; i++) {
        live[i] = f.negative()[i] ? ~live[i] : live[i];
      }
      putAll(b, live);
      putAll(b, f.result());
    }

    private static void putAll(ByteBuffer b, int[] values) {
      Frame.putInts(b, values, 0, values.length);
    }
  }

  /** Reflectors [from, to) of a block. */
  private record BlockRecord(ReflectorBlock block, int from, int to, int valueFrom, int values)
      implements Piece {
    @Override
    public long bytes() {
      return 16 + 4L * block.segments().length + 16L * (to - from) + 8L * values;
    }

    @Override
    public void write(ByteBuffer b) {
      b.putInt(BLOCK).putInt(block.segments().length).putInt(to - from).putInt(values);
      Frame.putInts(b, block.segments(), 0, block.segments().length);
      Frame.putInts(b, block.first(), from, to - from);
      Frame.putInts(b, block.length(), from, to - from);
      Frame.putDoubles(b, block.tau(), from, to - from);
      Frame.putDoubles(b, block.v(), valueFrom, values);
    }
  }

  private static final class Encoder {
    private final long limit;
    private final List<byte[]> frames = new ArrayList<>();
    private final List<Piece> records = new ArrayList<>();
    private long bytes;

    Encoder(long limit) {
      this.limit = limit;
    }

    void add(Piece record) {
      if (!records.isEmpty() && bytes + record.bytes() > limit) {
        flush();
      }
      records.add(record);
      bytes += record.bytes();
    }

    void flush() {
      if (records.isEmpty()) {
        return;
      }
      ByteBuffer b =
          Frame.allocate(Frame.Kind.REFLECTORS, records.size(), frames.size(), 0, 0, bytes);
      for (Piece r : records) {
        r.write(b);
      }
      frames.add(Frame.seal(b));
      records.clear();
      bytes = 0;
    }
  }
}
