/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.threads.Crew;
import java.util.List;

/**
 * The first rows of Q'B, as many as R has, from rows of B that arrive one after the other: of B
 * there are only those of a chunk, under the rows of Q'B so far, for any m. The same bits as by
 * {@link DenseQr#applyQTransposed}. For one thread.
 */
public final class ChunkedProduct {

  /** Where a chunk of rows ends: reflectors and rows before its end. */
  record Chunk(int blocks, int rows) {}

  private final DenseKernels kernels;
  private final Crew crew;
  private final List<ReflectorBlock> blocks;
  private final List<Chunk> chunks;
  private final boolean[] negated;
  private final int width;

  /** Rows of Q'B: those of R. */
  private final int height;

  /** ld x width, column-major: {@link #height} rows of Q'B so far, then those of the chunk. */
  private final double[] active;

  private final int ld;
  private int chunk;
  private int rows;

  ChunkedProduct(
      DenseKernels kernels,
      Crew crew,
      List<ReflectorBlock> blocks,
      List<Chunk> chunks,
      boolean[] negated,
      int width) {
    this.kernels = kernels;
    this.crew = crew;
    this.blocks = blocks;
    this.chunks = chunks;
    this.negated = negated;
    this.width = width;
    height = negated.length;
    ld = Math.toIntExact(longest(chunks, height));
    active = new double[Math.toIntExact(StaircaseQr.length(ld, width))];
  }

  /** Values that it holds for a width. */
  static long values(List<Chunk> chunks, int height, int width) {
    return longest(chunks, height) * (width + 1L);
  }

  /** Rows of Q'B so far and of a chunk, at most. */
  private static long longest(List<Chunk> chunks, int height) {
    long longest = chunks.get(0).rows;
    for (int k = 1; k < chunks.size(); k++) {
      longest = Math.max(longest, (long) height + chunks.get(k).rows - chunks.get(k - 1).rows);
    }
    return longest;
  }

  /** Rows of B so far. */
  public int rows() {
    return rows;
  }

  /**
   * Adds a row of B, {@code width} values from the first of an array.
   *
   * @throws DimensionMismatchException after the last row of A
   */
  public void row(double[] b) {
    if (chunk == chunks.size()) {
      throw new DimensionMismatchException(
          "more rows than the matrix has: " + rows, "right-hand sides", rows, rows + 1L);
    }
    int at = rows - shift();
    for (int k = 0; k < width; k++) {
      active[at + k * ld] = b[k];
    }
    rows++;
    if (rows == chunks.get(chunk).rows) {
      apply();
      chunk++;
    }
  }

  /** The number of row 0 of the chunk, less its place. */
  private int shift() {
    return chunk == 0 ? 0 : chunks.get(chunk - 1).rows - height;
  }

  private void apply() {
    int shift = shift();
    int from = chunk == 0 ? 0 : chunks.get(chunk - 1).blocks;
    for (int k = from; k < chunks.get(chunk).blocks; k++) {
      ReflectorBlock block = blocks.get(k);
      new CompactWy(kernels, shift == 0 ? block : moved(block, shift), crew)
          .apply(true, active, ld, width, crew);
    }
  }

  /** A block whose rows behind the triangle's have their places in the chunk. */
  private ReflectorBlock moved(ReflectorBlock block, int shift) {
    int[] segments = block.segments().clone();
    for (int k = 0; k < segments.length; k += 2) {
      if (segments[k] >= height) {
        segments[k] -= shift;
      }
    }
    return new ReflectorBlock(segments, block.first(), block.length(), block.tau(), block.v());
  }

  /**
   * The first rows of Q'B, height x width, column-major.
   *
   * @throws DimensionMismatchException if rows of B are missing
   */
  public double[] top() {
    if (chunk < chunks.size()) {
      int all = chunks.get(chunks.size() - 1).rows;
      throw new DimensionMismatchException(
          "%d rows, the matrix has %d".formatted(rows, all), "right-hand sides", all, rows);
    }
    double[] top = new double[Math.multiplyExact(height, width)];
    for (int k = 0; k < width; k++) {
      for (int i = 0; i < height; i++) {
        double x = active[i + k * ld];
        top[i + k * height] = negated[i] ? -x : x;
      }
    }
    return top;
  }
}
