/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.VectorCodec;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A vector over the columns in chunks of 8192, only those that are touched being there: what a
 * partition accumulates, and how it travels. Chunks of several partitions are combined in the order
 * of the partitions, so that the result does not depend on which task ends first.
 */
public final class ColumnChunks {

  private static final int BITS = 13;

  /** So many chunks have every column there can be. */
  private static final int MOST_CHUNKS = 1 << 31 - BITS;

  /** Columns a chunk. */
  static final int SIZE = 1 << BITS;

  private double[][] chunk = new double[16][];

  /** Adds to an entry. */
  public void add(long entry, double value) {
    open((int) (entry >>> BITS))[(int) entry & SIZE - 1] += value;
  }

  /** The array of a chunk, made when it is first asked for. */
  double[] open(int c) {
    if (c >= chunk.length) {
      chunk = Arrays.copyOf(chunk, Math.max(2 * chunk.length, c + 1));
    }
    if (chunk[c] == null) {
      chunk[c] = new double[SIZE];
    }
    return chunk[c];
  }

  /** The array of a chunk or null. */
  double[] peek(int c) {
    return c < chunk.length ? chunk[c] : null;
  }

  /** Number of chunks, untouched ones counted. */
  int chunks() {
    return chunk.length;
  }

  /** A frame for each touched chunk. */
  public void encode(int partition, List<byte[]> out) {
    for (int c = 0; c < chunk.length; c++) {
      if (chunk[c] != null) {
        int end = SIZE;
        while (end > 0 && chunk[c][end - 1] == 0) {
          end--;
        }
        out.add(VectorCodec.encodeChunk(partition, c, chunk[c], 0, end));
      }
    }
  }

  /** How two partial results of a column are combined. */
  public interface Combine {
    double apply(double a, double b);
  }

  /**
   * Combines the frames of several partitions, in partition order; the list gets sorted.
   *
   * @throws WireFormatException if a frame is damaged or no chunk of columns
   */
  public static ColumnChunks merge(List<byte[]> frames, Combine combine) {
    frames.sort(Comparator.comparingInt(VectorCodec::partition));
    var sum = new ColumnChunks();
    for (byte[] frame : frames) {
      double[] from = decode(frame);
      int c = VectorCodec.chunk(frame);
      if (sum.peek(c) == null) {
        System.arraycopy(from, 0, sum.open(c), 0, from.length);
      } else {
        double[] to = sum.open(c);
        for (int k = 0; k < from.length; k++) {
          to[k] = combine.apply(to[k], from[k]);
        }
      }
    }
    return sum;
  }

  private static double[] decode(byte[] frame) {
    double[] values = VectorCodec.decodeChunk(frame);
    int c = VectorCodec.chunk(frame);
    if (c < 0 || c >= MOST_CHUNKS || values.length > SIZE) {
      throw new WireFormatException(
          "chunk " + c + " of " + values.length + " columns: there is none", "chunk");
    }
    return values;
  }

  /** Copies a frame's chunk into its place of a whole vector, cut at the vector's end. */
  public static void place(byte[] frame, double[] vector) {
    double[] from = decode(frame);
    long at = (long) VectorCodec.chunk(frame) << BITS;
    if (at < vector.length) {
      System.arraycopy(from, 0, vector, (int) at, (int) Math.min(from.length, vector.length - at));
    }
  }

  /** The same for whole numbers. */
  static void place(byte[] frame, long[] vector) {
    double[] from = decode(frame);
    long at = (long) VectorCodec.chunk(frame) << BITS;
    for (int k = 0; k < from.length && at + k < vector.length; k++) {
      vector[(int) at + k] = (long) from[k];
    }
  }
}
