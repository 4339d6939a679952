/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.WireFormatException;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A folder of little-endian arrays that hold an m x n matrix in compressed rows, its right-hand
 * sides and weights.
 *
 * <ul>
 *   <li>{@code indptr}: int64, m + 1, starts of the rows, from 0
 *   <li>{@code indices}: int32, column indices from 0
 *   <li>{@code data}: float64, the values at them
 *   <li>{@code labels}: float64, m x k by rows; absent if k is 0
 *   <li>{@code weights}: float64, m; if absent, all are 1
 * </ul>
 *
 * @param folder on the driver's machine
 * @param rows m
 * @param columns n
 * @param rhs k, at least 0
 * @param weighted whether there are weights
 */
public record ArrayFolder(String folder, long rows, int columns, int rhs, boolean weighted)
    implements Serializable {

  static final String INDPTR = "indptr";
  static final String INDICES = "indices";
  static final String DATA = "data";
  static final String LABELS = "labels";
  static final String WEIGHTS = "weights";

  /** Checks the shape. */
  public ArrayFolder {
    if (rows < 1 || columns < 1 || rhs < 0) {
      throw new IllegalArgumentException(
          "arrays of a %d x %d matrix with %d right-hand sides".formatted(rows, columns, rhs));
    }
  }

  Path file(String name) {
    return Path.of(folder, name);
  }

  /**
   * Checks that the files have the lengths given by the shape.
   *
   * @return the number of entries
   * @throws WireFormatException if a length is wrong
   * @throws IOException if a file cannot be read
   */
  long check() throws IOException {
    require(INDPTR, Math.multiplyExact(rows + 1, Long.BYTES));
    long entries;
    try (FileChannel indptr = FileChannel.open(file(INDPTR), StandardOpenOption.READ)) {
      entries = start(indptr, rows);
      if (start(indptr, 0) != 0) {
        throw new WireFormatException(file(INDPTR) + " does not begin with 0", INDPTR);
      }
    }
    require(INDICES, Math.multiplyExact(entries, Integer.BYTES));
    require(DATA, Math.multiplyExact(entries, Double.BYTES));
    if (rhs > 0) {
      require(LABELS, Math.multiplyExact(rows, (long) rhs * Double.BYTES));
    }
    if (weighted) {
      require(WEIGHTS, Math.multiplyExact(rows, Double.BYTES));
    }
    return entries;
  }

  private void require(String name, long bytes) throws IOException {
    requireLength(file(name), bytes);
  }

  static void requireLength(Path file, long bytes) throws IOException {
    long there = Files.size(file);
    if (there != bytes) {
      throw new WireFormatException(
          "%s has %,d bytes, not %,d".formatted(file, there, bytes), file.getFileName().toString());
    }
  }

  /**
   * Cuts the rows into partitions of about equal work.
   *
   * @return starts of the partitions: size partitions+1, ascending, from 0 to m; a row and an entry
   *     count alike
   */
  long[] cuts(int partitions) throws IOException {
    int parts = (int) Math.max(1, Math.min(partitions, rows));
    long[] cut = new long[parts + 1];
    cut[parts] = rows;
    try (FileChannel indptr = FileChannel.open(file(INDPTR), StandardOpenOption.READ)) {
      double total = (double) start(indptr, rows) + rows;
      for (int p = 1; p < parts; p++) {
        long low = cut[p - 1];
        long high = rows;
        while (low < high) {
          long middle = (low + high) >>> 1;
          if (start(indptr, middle) + middle < total * p / parts) {
            low = middle + 1;
          } else {
            high = middle;
          }
        }
        cut[p] = low;
      }
    }
    return cut;
  }

  /**
   * The rows [first, last) as separate bytes, for sending.
   *
   * @throws DimensionMismatchException if they do not fit in an array of bytes
   */
  ArraySlice slice(long first, long last) throws IOException {
    byte[] starts = bytes(INDPTR, first * Long.BYTES, (last - first + 1) * Long.BYTES);
    ByteBuffer ends = ByteBuffer.wrap(starts).order(ByteOrder.LITTLE_ENDIAN);
    long from = ends.getLong(0);
    long count = ends.getLong(starts.length - Long.BYTES) - from;
    long row = (long) rhs * Double.BYTES;
    return new ArraySlice(
        columns,
        starts,
        bytes(INDICES, from * Integer.BYTES, count * Integer.BYTES),
        bytes(DATA, from * Double.BYTES, count * Double.BYTES),
        rhs == 0 ? new byte[0] : bytes(LABELS, first * row, (last - first) * row),
        weighted
            ? bytes(WEIGHTS, first * Double.BYTES, (last - first) * Double.BYTES)
            : new byte[0]);
  }

  private byte[] bytes(String name, long from, long count) throws IOException {
    return bytes(file(name), from, count);
  }

  static byte[] bytes(Path file, long from, long count) throws IOException {
    if (count > Integer.MAX_VALUE - 16) {
      throw new DimensionMismatchException(
          "%,d bytes of %s are too many for one partition: use more".formatted(count, file),
          "bytes",
          Integer.MAX_VALUE - 16,
          count);
    }
    ByteBuffer buffer = ByteBuffer.allocate((int) count);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      channel.position(from);
      while (buffer.hasRemaining()) {
        if (channel.read(buffer) < 0) {
          throw new WireFormatException(file + " ends too early", file.getFileName().toString());
        }
      }
    }
    return buffer.array();
  }

  private static long start(FileChannel indptr, long row) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    while (one.hasRemaining()) {
      if (indptr.read(one, row * Long.BYTES + one.position()) < 0) {
        throw new WireFormatException("indptr ends too early", INDPTR);
      }
    }
    return one.getLong(0);
  }
}
