/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.InputChangedException;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.ChunkedProduct;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.numeric.lowrank.PursuitTally;
import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/** The factorization of a partition's rows, or of the triangles below a node of the tree. */
final class LocalQr {

  private final DenseQr qr;
  private final int node;

  /** Of the rows, or of all below: it decides whether a block belongs to them. */
  private final long checksum;

  /** The triangles that were stacked, in order; none for rows. */
  private final List<Triangle> below;

  private LocalQr(DenseQr qr, int node, long checksum, List<Triangle> below) {
    this.qr = qr;
    this.node = node;
    this.checksum = checksum;
    this.below = below;
  }

  /** Of a partition's rows; nothing if it has none. 2 m n^2 flops, 8 m n bytes if Q is kept. */
  static Iterator<LocalQr> ofRows(int partition, Iterator<?> elements, boolean keepQ) {
    var rows = new DenseRows(partition, elements);
    if (!rows.hasNext()) {
      return Collections.emptyIterator();
    }
    double[] first = rows.next();
    DenseQr.Builder builder = builder(first.length, keepQ).row(first);
    while (rows.hasNext()) {
      builder.row(rows.next());
    }
    return List.of(new LocalQr(builder.factor(), partition, rows.checksum(), List.of())).iterator();
  }

  /**
   * Of triangles in the order of their nodes.
   *
   * @throws DimensionMismatchException if they have different numbers of columns
   */
  static LocalQr ofTriangles(int node, Iterable<Triangle> triangles, boolean keepQ) {
    var below = new ArrayList<Triangle>();
    triangles.forEach(below::add);
    below.sort((a, b) -> Integer.compare(a.node, b.node));
    Triangle first = below.get(0);
    DenseQr.Builder builder = builder(first.columns, keepQ);
    for (Triangle t : below) {
      if (t.columns != first.columns) {
        throw new DimensionMismatchException(
            "rows below node %d of the tree have %d columns, others %d"
                .formatted(t.node, t.columns, first.columns),
            "columns",
            first.columns,
            t.columns);
      }
      builder.rows(t.values, t.height, t.height);
    }
    long checksum = 1;
    for (Triangle t : below) {
      checksum = 31 * checksum + t.checksum;
    }
    return new LocalQr(builder.factor(), node, checksum, below);
  }

  private static DenseQr.Builder builder(int columns, boolean keepQ) {
    DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), columns, Crew.ALONE);
    return keepQ ? builder.keepQ() : builder;
  }

  /** R, on its way up. */
  Triangle triangle() {
    long rows = below.isEmpty() ? qr.rows() : below.stream().mapToLong(t -> t.rows).sum();
    PursuitTally tally = PursuitTally.NONE;
    for (Triangle t : below) {
      tally = tally.plus(t.tally);
    }
    return new Triangle(node, qr.height(), qr.columns(), qr.r(), rows, checksum, tally)
        .onDevices(below.stream().mapToInt(t -> t.onDevices).sum());
  }

  /** Rows that Q acts on. */
  long rows() {
    return qr.rows();
  }

  /**
   * Q times a block of as many rows as R has, zeros below it; rows x width, column-major.
   *
   * @throws InputChangedException if the block is of other rows than these
   * @throws IndexOverflowException if the product does not fit into an array
   */
  double[] times(Triangle block) {
    require(block.height, block.checksum);
    double[] c = zeros(block.columns);
    int ld = (int) qr.rows();
    for (int k = 0; k < block.columns; k++) {
      System.arraycopy(block.values, k * block.height, c, k * ld, block.height);
    }
    qr.applyQ(c, block.columns);
    return c;
  }

  /** The blocks of a product for the nodes below, with their checksums. */
  Iterator<Triangle> split(double[] c, int width) {
    var blocks = new ArrayList<Triangle>();
    int ld = (int) qr.rows();
    int from = 0;
    for (Triangle t : below) {
      blocks.add(
          new Triangle(t.node, t.height, width, rows(c, ld, from, t.height, width), 0, t.checksum));
      from += t.height;
    }
    return blocks.iterator();
  }

  /** The first rows of Q' times a block, as many as R has. */
  Triangle transposedTimes(double[] b, int width) {
    qr.applyQTransposed(b, width);
    double[] top = rows(b, (int) qr.rows(), 0, qr.height(), width);
    return new Triangle(node, qr.height(), width, top, 0, checksum);
  }

  /** As above, for rows of the block that arrive one after the other. */
  ChunkedProduct product(int width) {
    return qr.product(width);
  }

  /** What {@link #product} gave, on its way up. */
  Triangle transposed(ChunkedProduct made, int width) {
    return new Triangle(node, qr.height(), width, made.top(), 0, checksum);
  }

  /** Blocks of the nodes below, stacked. */
  double[] stacked(Iterable<Triangle> blocks) {
    var sorted = new ArrayList<Triangle>();
    blocks.forEach(sorted::add);
    sorted.sort((a, b) -> Integer.compare(a.node, b.node));
    double[] c = zeros(sorted.get(0).columns);
    int ld = (int) qr.rows();
    int from = 0;
    for (int k = 0; k < sorted.size(); k++) {
      Triangle t = sorted.get(k);
      Triangle r = below.get(k);
      if (t.node != r.node || t.height != r.height || t.checksum != r.checksum) {
        throw changed(t.node);
      }
      for (int j = 0; j < t.columns; j++) {
        System.arraycopy(t.values, j * t.height, c, from + j * ld, t.height);
      }
      from += t.height;
    }
    return c;
  }

  private void require(int height, long expected) {
    if (height != qr.height() || expected != checksum) {
      throw below.isEmpty() ? changed(node) : changedBelow(node);
    }
  }

  private static InputChangedException changed(int partition) {
    return changed(
        "partition %d had other rows when it was read again".formatted(partition), partition);
  }

  /** What the tree keeps was lost with an executor, and made again of other rows. */
  static InputChangedException changedBelow(int node) {
    return changed(
        "rows below node %d of the tree were others when they were read again".formatted(node), -1);
  }

  private static InputChangedException changed(String message, int partition) {
    return new InputChangedException(message, partition, -1, -1, -1, -1);
  }

  /** An array for a product of this many columns. */
  double[] zeros(int width) {
    long size = qr.rows() * width;
    if (size > Integer.MAX_VALUE - 8L) {
      throw new IndexOverflowException(
          "partition %d has %d rows: %d columns of them do not fit into an array; use more partitions"
              .formatted(node, qr.rows(), width),
          "rows of a partition",
          size);
    }
    return new double[(int) size];
  }

  private static double[] rows(double[] c, int ld, int from, int height, int width) {
    double[] some = new double[Math.multiplyExact(height, width)];
    for (int k = 0; k < width; k++) {
      System.arraycopy(c, from + k * ld, some, k * height, height);
    }
    return some;
  }
}
