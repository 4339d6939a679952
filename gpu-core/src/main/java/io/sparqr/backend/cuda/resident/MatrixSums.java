/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.transfer.PinnedPool;
import io.sparqr.numeric.integrity.DenseSums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;

/**
 * {@link DenseSums} of a matrix on the device, by the kernels of {@code dense/sums.cuh}. Holds t =
 * A u there, 8 bytes a row, and what is needed for one matrix of at most these columns.
 */
public final class MatrixSums implements AutoCloseable {

  /** Bytes of SparqrDense, the launch's parameter. */
  private static final int PARAMETER_BYTES = 64;

  private static final int STRIP = 128;

  /** SPARQR_DENSE_ROWS. */
  private static final int ROWS = 128;

  /** Blocks of the product: more than a device runs at a time. */
  private static final int MOST_BLOCKS = 4096;

  /** Columns for which there is room in any case. */
  private static final int LEAST = 64;

  /** Arrays by column: v, squares, probes, bits. */
  private static final int ARRAYS = 4;

  private final CudaDevice device;
  private final PinnedPool pinned;
  private final CudaStream stream;
  private final long rows;
  private final int columns;
  private final DeviceBuffer byColumn;
  private final DeviceBuffer probe;

  /** Room for the sums of a matrix of at most this size; the device's context is current. */
  public MatrixSums(
      CudaDevice device, PinnedPool pinned, CudaStream stream, long rows, int columns) {
    this.device = device;
    this.pinned = pinned;
    this.stream = stream;
    this.rows = rows;
    this.columns = Math.max(columns, LEAST);
    byColumn = new DeviceBuffer(device.driver(), 8L * ARRAYS * this.columns);
    DeviceBuffer room = null;
    boolean done = false;
    try {
      room = new DeviceBuffer(device.driver(), 8 * rows);
      // sums of bits alone read it before anything is in it
      stream.fill(room.at(0), (byte) 0, 8 * rows);
      done = true;
    } finally {
      if (!done) {
        byColumn.close();
        if (room != null) {
          room.close();
        }
      }
    }
    probe = room;
  }

  /** Whether there is room for a matrix of this size. */
  public boolean holds(long height, int width) {
    return height <= rows && width <= columns;
  }

  /**
   * Sums, and the sum of each column's bits.
   *
   * @param t size height: A u
   */
  public record Sums(DenseSums sums, long[] bits, double[] t) {}

  /**
   * The sums of a matrix, after everything enqueued on the stream.
   *
   * @param a address of its first entry, row-major
   * @param wantsProbe whether t comes back, too
   */
  public Sums of(long a, long ld, int height, int width, boolean wantsProbe) {
    int bytes = 8 * width;
    PinnedBuffer buffer = pinned.acquire((long) bytes * ARRAYS);
    try {
      buffer.view(0, bytes).asDoubleBuffer().put(DenseSums.signs(width));
      stream.upload(byColumn.at(0), buffer, 0, bytes);
      stream.fill(byColumn.at(bytes), (byte) 0, (long) bytes * (ARRAYS - 1));
      long at = byColumn.address();
      ByteBuffer p = parameter(a, ld, height, width, at);
      device.module().launchDenseProduct(stream, p, Math.min(MOST_BLOCKS, (height + 3) / 4));
      sum(p, height, width);
      stream.download(buffer, bytes, byColumn.at(bytes), (long) bytes * (ARRAYS - 1));
      stream.synchronize();
      double[] square = new double[width];
      double[] product = new double[width];
      long[] bits = new long[width];
      buffer.view(bytes, 2 * bytes).asDoubleBuffer().get(square);
      buffer.view(2 * bytes, 3 * bytes).asDoubleBuffer().get(product);
      buffer.view(3 * bytes, 4 * bytes).asLongBuffer().get(bits);
      double[] t = wantsProbe ? probe(height) : new double[0];
      return new Sums(new DenseSums(square, product), bits, t);
    } finally {
      pinned.release(buffer);
    }
  }

  /** The sum of the bits of doubles that lie one after the other. */
  public long bits(long address, long length) {
    long sum = 0;
    long done = 0;
    while (done < length) {
      // as many rows as t has values, the last one a shorter one of its own
      int height = (int) Math.min(rows, (length - done) / LEAST);
      int width = height > 0 ? LEAST : (int) (length - done);
      height = Math.max(height, 1);
      for (long each : bits(address + 8 * done, height, width)) {
        sum += each;
      }
      done += (long) height * width;
    }
    return sum;
  }

  /** With what the vector t has, which is of no interest. */
  private long[] bits(long a, int height, int width) {
    int bytes = 8 * width;
    PinnedBuffer buffer = pinned.acquire(bytes);
    try {
      stream.fill(byColumn.at(bytes), (byte) 0, (long) bytes * (ARRAYS - 1));
      sum(parameter(a, width, height, width, byColumn.address()), height, width);
      stream.download(buffer, 0, byColumn.at(3L * bytes), bytes);
      stream.synchronize();
      long[] bits = new long[width];
      buffer.view(0, bytes).asLongBuffer().get(bits);
      return bits;
    } finally {
      pinned.release(buffer);
    }
  }

  private void sum(ByteBuffer parameter, int height, int width) {
    long parts = (height + ROWS - 1L) / ROWS;
    long strips = (width + STRIP - 1L) / STRIP;
    device.module().launchDenseSums(stream, parameter, Math.toIntExact(parts * strips));
  }

  /**
   * A v for a vector of the host.
   *
   * @param a address of its first entry
   */
  public double[] times(long a, long ld, int height, double[] v) {
    int bytes = 8 * v.length;
    PinnedBuffer buffer = pinned.acquire(bytes);
    try {
      buffer.view(0, bytes).asDoubleBuffer().put(v);
      stream.upload(byColumn.at(0), buffer, 0, bytes);
      ByteBuffer p = parameter(a, ld, height, v.length, byColumn.address());
      device.module().launchDenseProduct(stream, p, Math.min(MOST_BLOCKS, (height + 3) / 4));
      return probe(height);
    } finally {
      pinned.release(buffer);
    }
  }

  private ByteBuffer parameter(long a, long ld, int height, int width, long at) {
    long bytes = 8L * width;
    ByteBuffer p = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
    p.putLong(a).putLong(at).putLong(probe.address());
    p.putLong(at + bytes).putLong(at + 2 * bytes).putLong(at + 3 * bytes);
    return p.putLong(height).putInt(width).putInt(Math.toIntExact(ld)).flip();
  }

  private double[] probe(int height) {
    double[] t = new double[height];
    int most = Math.min(height, 1 << 19);
    PinnedBuffer buffer = pinned.acquire(8L * most);
    try {
      for (int from = 0; from < height; from += most) {
        int some = Math.min(most, height - from);
        stream.download(buffer, 0, probe.at(8L * from), 8L * some);
        stream.synchronize();
        DoubleBuffer values = buffer.view(0, 8 * some).asDoubleBuffer();
        values.get(t, from, some);
      }
    } finally {
      pinned.release(buffer);
    }
    return t;
  }

  @Override
  public void close() {
    byColumn.close();
    probe.close();
  }
}
