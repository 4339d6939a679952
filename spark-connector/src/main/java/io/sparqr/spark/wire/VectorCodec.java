/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;

/**
 * Vectors and pieces of vectors.
 *
 * <p>CHUNK: a = source partition, b = index of the chunk; body: int count, double value[count].
 * SPARSE: a = entries, b = values per entry; body: int position[a], double value[a * b]. SOLUTION:
 * a = entries, b = values per entry; body: double norm, int position[a], double value[a * b].
 */
public final class VectorCodec {

  private VectorCodec() {}

  /** Encodes entries [from, to) of a vector as a chunk. */
  public static byte[] encodeChunk(int partition, int chunk, double[] values, int from, int to) {
    ByteBuffer b = Frame.allocate(Frame.Kind.CHUNK, partition, chunk, 0, 0, 4 + 8L * (to - from));
    b.putInt(to - from);
    Frame.putDoubles(b, values, from, to - from);
    return Frame.seal(b);
  }

  /** The values of a chunk. */
  public static double[] decodeChunk(byte[] bytes) {
    ByteBuffer b = Frame.open(bytes, Frame.Kind.CHUNK);
    Frame.need(b, 4);
    double[] values = Frame.getDoubles(b, b.getInt());
    Frame.end(b);
    return values;
  }

  /** The source partition of a chunk. */
  public static int partition(byte[] chunk) {
    return Frame.peek(chunk, 0);
  }

  /** The index of a chunk. */
  public static int chunk(byte[] chunk) {
    return Frame.peek(chunk, 1);
  }

  /**
   * Values at positions.
   *
   * @param position ascending positions
   * @param value width values for each position
   */
  public record Sparse(int[] position, double[] value, int width) {}

  /** Encodes values at positions as a frame. */
  public static byte[] encodeSparse(Sparse v) {
    int n = v.position.length;
    ByteBuffer b = Frame.allocate(Frame.Kind.SPARSE, n, v.width, 0, 0, 4L * n + 8L * n * v.width);
    Frame.putInts(b, v.position, 0, n);
    Frame.putDoubles(b, v.value, 0, n * v.width);
    return Frame.seal(b);
  }

  /**
   * Values at positions, and the norm of a vector that is not there.
   *
   * @param position ascending positions
   * @param value width values for each position, from index 0 on: a view of the frame
   */
  public record Solution(int[] position, DoubleBuffer value, int width, double norm) {}

  /** Encodes values at positions, and a norm. */
  public static byte[] encodeSolution(Sparse v, double norm) {
    int n = v.position.length;
    long length = 8 + 4L * n + 8L * n * v.width;
    ByteBuffer b = Frame.allocate(Frame.Kind.SOLUTION, n, v.width, 0, 0, length);
    b.putDouble(norm);
    Frame.putInts(b, v.position, 0, n);
    Frame.putDoubles(b, v.value, 0, n * v.width);
    return Frame.seal(b);
  }

  /** The inverse of {@link #encodeSolution}; values are not copied. */
  public static Solution decodeSolution(byte[] bytes) {
    ByteBuffer b = Frame.open(bytes, Frame.Kind.SOLUTION);
    int n = Frame.field(b, 0);
    int width = Frame.field(b, 1);
    Frame.require(n >= 0 && width >= 0, "sizes of a solution");
    Frame.need(b, 8);
    double norm = b.getDouble();
    int[] position = Frame.getInts(b, n);
    long length = 8L * Math.min((long) n * width, Integer.MAX_VALUE);
    Frame.need(b, length);
    DoubleBuffer value = b.asDoubleBuffer().slice(0, n * width);
    b.position(b.position() + (int) length);
    Frame.end(b);
    return new Solution(position, value, width, norm);
  }

  /** The inverse of {@link #encodeSparse}. */
  public static Sparse decodeSparse(byte[] bytes) {
    ByteBuffer b = Frame.open(bytes, Frame.Kind.SPARSE);
    int n = Frame.field(b, 0);
    int width = Frame.field(b, 1);
    Frame.require(n >= 0 && width >= 0, "sizes of a sparse vector");
    int[] position = Frame.getInts(b, n);
    Frame.need(b, 8L * Math.min((long) n * width, Integer.MAX_VALUE));
    double[] value = Frame.getDoubles(b, n * width);
    Frame.end(b);
    return new Sparse(position, value, width);
  }
}
