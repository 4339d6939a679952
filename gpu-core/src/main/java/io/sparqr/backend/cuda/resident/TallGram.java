/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.transfer.PinnedPool;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.driver.CUdevice_attribute;

/**
 * R of a tall matrix on the device by its Gram matrix, preconditioned by R of some of its rows: the
 * kernels of {@code dense/tall.cuh}. Says what the result is worth; nothing of the matrix is
 * written. Flops: 2 m n^2, in one pass over the rows.
 */
public final class TallGram implements AutoCloseable {

  /** Most columns. */
  public static final int MOST_COLUMNS = CudaModule.MOST_TALL_BLOCKS * CudaModule.TALL_BLOCK;

  /** Bytes of SparqrTall, the launches' parameter. */
  private static final int PARAMETER_BYTES = 136;

  /** Entries of a block of 16 x 8. */
  private static final int BLOCK_ENTRIES = 128;

  /** Parts of the rows, and tiles of a sample: as many as a device runs at a time. */
  private static final int PARTS = 128;

  /** Tiles of a part; more make its sums longer. */
  private static final int MOST_TILES = 512;

  /** Entries of the fragments of a block of 48 x 48. */
  private static final int FRAGMENT_ENTRIES = 18 * BLOCK_ENTRIES;

  /** Arrays by column: pivots, growth, diagonal of G, squares of the inverse. */
  private static final int MEASURES = 4;

  /** Of a pivot over its diagonal entry: below it the Gram matrix has no digits. */
  private static final double LEAST_PIVOT = 1e-12;

  /** Rounding errors of the substitution grow by this much. */
  private static final double MOST_GROWTH = 64;

  /** SPARQR_TALL_GROWN. */
  private static final int GROWN = 2;

  private final CudaDevice device;
  private final PinnedPool pinned;
  private final CudaStream stream;
  private final int rows;
  private final int columns;
  private final int blocks;
  private final int tiles;
  private final DeviceBuffer parts;
  private final DeviceBuffer rest;

  /**
   * Room for matrices of this size; the device's context is current.
   *
   * @param columns at most {@link #MOST_COLUMNS}
   */
  public TallGram(CudaDevice device, PinnedPool pinned, CudaStream stream, int rows, int columns) {
    this.device = device;
    this.pinned = pinned;
    this.stream = stream;
    this.rows = rows;
    this.columns = columns;
    blocks = (columns + CudaModule.TALL_BLOCK - 1) / CudaModule.TALL_BLOCK;
    tiles = (rows + CudaModule.TALL_ROWS - 1) / CudaModule.TALL_ROWS;
    long entries = (9L * blocks * blocks + 3L * blocks) * BLOCK_ENTRIES;
    parts = new DeviceBuffer(device.driver(), Double.BYTES * entries * parts(tiles));
    boolean done = false;
    try {
      rest = new DeviceBuffer(device.driver(), Double.BYTES * restEntries());
      done = true;
    } finally {
      if (!done) {
        parts.close();
      }
    }
  }

  /** Whether blocks of a device may have as much shared memory as the kernels need. */
  public static boolean runsOn(CudaDevice device) {
    return CudaDevice.attribute(
            device.driver(),
            device.ordinal(),
            CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        >= CudaModule.tallBytes();
  }

  private static int parts(int tiles) {
    return Math.max(Math.min(PARTS, tiles), (tiles + MOST_TILES - 1) / MOST_TILES);
  }

  private int padded() {
    return CudaModule.TALL_BLOCK * blocks;
  }

  private long square() {
    return (long) padded() * padded();
  }

  private long restEntries() {
    long inverse = (long) CudaModule.TALL_BLOCK * padded();
    long fragments = (long) FRAGMENT_ENTRIES * blocks * (blocks + 1) / 2;
    return 3 * square() + inverse + fragments + (long) MEASURES * padded() + 1;
  }

  /** The rows from which the preconditioner is made. */
  public enum Preconditioner {
    /** Some tiles, as far from each other everywhere. */
    SAMPLE,
    /** All rows: a pass more. */
    ALL
  }

  /**
   * What a run is worth.
   *
   * @param grown whether rounding errors of the substitution may have grown too much
   * @param singular a bound below the singular values of A R_0^-1 over the root of their mean
   *     square; 0 if a pivot was too small
   */
  public record Measure(boolean grown, double singular) {

    /** Below it, R would have lost digits by more than a small factor. */
    private static final double LEAST = 0.25;

    /** Whether R is as good as by reflectors. */
    public boolean isAccepted() {
      return !grown && singular >= LEAST;
    }
  }

  /** Whether a sample is not all rows. */
  public boolean samples() {
    return tiles > PARTS;
  }

  /**
   * Enqueues a run.
   *
   * @param a address of the matrix' first entry, row-major, 16-byte aligned
   * @param ld distance of rows, even
   * @param out address of R, its rows one after the other, from the diagonal on
   */
  public void enqueue(Preconditioner from, long a, int ld, long out) {
    int some = from == Preconditioner.ALL ? tiles : Math.min(PARTS, tiles);
    // the state; and what is below the diagonal is copied, too
    stream.fill(rest.at(0), (byte) 0, Double.BYTES * restEntries());
    CudaModule module = device.module();
    ByteBuffer sample = parameter(a, ld, out, some, 0);
    module.launchTallGram(stream, sample, blocks, parts(some));
    module.launchTallPack(stream, sample, blocks);
    ByteBuffer all = parameter(a, ld, out, tiles, 1);
    module.launchTallGram(stream, all, blocks, parts(tiles));
    module.launchTallFinish(stream, all, blocks);
  }

  private ByteBuffer parameter(long a, int ld, long out, int taken, int substitutes) {
    long bytes = Double.BYTES * square();
    long gram = rest.address();
    long inverse = gram + 3 * bytes;
    long fragments = inverse + (long) Double.BYTES * CudaModule.TALL_BLOCK * padded();
    long measures =
        fragments + Double.BYTES * ((long) FRAGMENT_ENTRIES * blocks * (blocks + 1) / 2);
    long state = measures + (long) Double.BYTES * MEASURES * padded();
    ByteBuffer p = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
    p.putLong(a).putLong(parts.address()).putLong(gram).putLong(gram + bytes).putLong(inverse);
    p.putLong(fragments).putLong(gram + 2 * bytes).putLong(out).putLong(measures).putLong(state);
    p.putDouble(LEAST_PIVOT).putDouble(MOST_GROWTH).putLong(rows).putLong(tiles);
    p.putInt(taken).putInt(parts(taken)).putInt(ld).putInt(columns).putInt(blocks);
    return p.putInt(substitutes).flip();
  }

  /**
   * Waits for the run, and measures it.
   *
   * @throws IntegrityFailure if the measures change on their way
   */
  public Measure measure() {
    int n = padded();
    int bytes = Double.BYTES * (MEASURES * n + 1);
    PinnedBuffer buffer = pinned.acquire(2L * bytes);
    try {
      long at = Double.BYTES * restEntries() - bytes;
      stream.download(buffer, 0, rest.at(at), bytes);
      stream.download(buffer, bytes, rest.at(at), bytes);
      stream.synchronize();
      if (!buffer.view(0, bytes).equals(buffer.view(bytes, 2 * bytes))) {
        throw new IntegrityFailure("the measures of a Gram matrix arrive with other bits");
      }
      int state = buffer.view(bytes - Double.BYTES, bytes).getInt();
      if (state != 0) {
        return new Measure((state & GROWN) != 0, 0);
      }
      return new Measure(false, least(column(buffer, 2), column(buffer, 3)));
    } finally {
      pinned.release(buffer);
    }
  }

  private double[] column(PinnedBuffer buffer, int which) {
    double[] values = new double[columns];
    int from = Double.BYTES * which * padded();
    buffer.view(from, from + Double.BYTES * columns).asDoubleBuffer().get(values);
    return values;
  }

  /**
   * The sum over the eigenvalues l of G of (l^(1/2) - l^(-1/2))^2 is trace(G) + trace(G^-1) - 2 n;
   * so none of its terms is larger. G is taken with a trace of n.
   */
  static double least(double[] diagonal, double[] inverse) {
    double trace = 0;
    double ofInverse = 0;
    for (int k = 0; k < diagonal.length; k++) {
      trace += diagonal[k];
      ofInverse += inverse[k];
    }
    double off = Math.sqrt(Math.max(0, trace / diagonal.length * ofInverse - diagonal.length));
    // s - 1 / s = -off; NaN is not at least anything
    return (Math.sqrt(off * off + 4) - off) / 2;
  }

  @Override
  public void close() {
    parts.close();
    rest.close();
  }
}
