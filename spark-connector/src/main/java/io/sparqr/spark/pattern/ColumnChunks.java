/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A vector over the columns in chunks of 8192, of which only those in use exist: accumulated by a
 * partition, and sent in this form. Chunks of several partitions are combined in the order of the
 * partitions, so that the result does not depend on the order in which tasks end.
 */
public final class ColumnChunks {

  private static final int BITS = 13;

  /** Number of chunks that covers every possible column. */
  private static final int MOST_CHUNKS = 1 << 31 - BITS;

  /** Columns per chunk. */
  static final int SIZE = 1 << BITS;

  private double[][] chunk = new double[16][];

  /** Adds to an entry. */
  public void add(long entry, double value) {
    open((int) (entry >>> BITS))[(int) entry & SIZE - 1] += value;
  }

  /** The array of a chunk, created on first use. */
  double[] open(int c) {
    if (c >= chunk.length) {
      chunk = Arrays.copyOf(chunk, Math.max(2 * chunk.length, c + 1));
    }
    if (chunk[c] == null) {
      chunk[c] = new double[SIZE];
    }
    return chunk[c];
  }

  /** The array of a chunk that is in use. */
  double @Nullable [] peek(int c) {
    return c < chunk.length ? chunk[c] : null;
  }

  /** Number of chunks, including unused ones. */
  int chunks() {
    return chunk.length;
  }

  /** Encodes each used chunk as a frame. */
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

  /** The combination of two partial results for a column. */
  public interface Combine {
    double apply(double a, double b);
  }

  /**
   * Combines the frames of several partitions, in partition order; sorts the list.
   *
   * @throws WireFormatException if a frame is damaged or not a chunk of columns
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

  /**
   * Combines partial results of this JVM in a vector, truncated at its end: the bits of {@link
   * #merge} of their frames.
   *
   * @param parts in the order of the partitions
   * @param vector zeros
   */
  public static void merge(
      List<ColumnChunks> parts, Combine combine, double[] vector, int threads) {
    Parallel.loop(
        (vector.length + SIZE - 1) >>> BITS,
        1,
        threads,
        (from, to, thread) -> {
          for (int c = from; c < to; c++) {
            merge(parts, combine, c, vector);
          }
        });
  }

  private static void merge(List<ColumnChunks> parts, Combine combine, int c, double[] vector) {
    int at = c << BITS;
    int count = Math.min(SIZE, vector.length - at);
    boolean any = false;
    for (ColumnChunks part : parts) {
      double[] from = part.peek(c);
      if (from != null && !any) {
        System.arraycopy(from, 0, vector, at, count);
        any = true;
      } else if (from != null) {
        for (int k = 0; k < count; k++) {
          vector[at + k] = combine.apply(vector[at + k], from[k]);
        }
      }
    }
  }

  /** Bytes of the chunks in use. */
  long bytes() {
    long bytes = 8L * chunk.length;
    for (double[] c : chunk) {
      bytes += c == null ? 0 : 8L * SIZE;
    }
    return bytes;
  }

  private static double[] decode(byte[] frame) {
    double[] values = VectorCodec.decodeChunk(frame);
    int c = VectorCodec.chunk(frame);
    if (c < 0 || c >= MOST_CHUNKS || values.length > SIZE) {
      throw new WireFormatException(
          "chunk " + c + " of " + values.length + " columns does not exist", "chunk");
    }
    return values;
  }

  /** Copies a frame's chunk to its place in a whole vector, truncated at the vector's end. */
  public static void place(byte[] frame, double[] vector) {
    double[] from = decode(frame);
    long at = (long) VectorCodec.chunk(frame) << BITS;
    if (at < vector.length) {
      System.arraycopy(from, 0, vector, (int) at, (int) Math.min(from.length, vector.length - at));
    }
  }

  /** As above, for integers. */
  static void place(byte[] frame, long[] vector) {
    double[] from = decode(frame);
    long at = (long) VectorCodec.chunk(frame) << BITS;
    for (int k = 0; k < from.length && at + k < vector.length; k++) {
      vector[(int) at + k] = (long) from[k];
    }
  }
}
