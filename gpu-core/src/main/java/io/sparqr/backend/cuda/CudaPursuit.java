/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.MatrixSums;
import io.sparqr.backend.cuda.transfer.DenseRows;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.numeric.lowrank.PursuitSite;
import io.sparqr.numeric.lowrank.PursuitStart;
import io.sparqr.numeric.lowrank.PursuitStep;
import io.sparqr.numeric.lowrank.PursuitTally;
import io.sparqr.numeric.lowrank.RightSvd;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Iterations of Robust PCA on one device: M, S and Y stay there, with the S and Y of the iteration
 * before, 40 m n bytes, and W where its QR is made ({@link CudaDenseQr}). Of an iteration R, some
 * sums and an n x n matrix travel.
 */
final class CudaPursuit implements PursuitSite {

  /** Bytes of SparqrPursuit, the launch's parameter. */
  private static final int PARAMETER_BYTES = 144;

  /** Bytes of SparqrJacobi. */
  private static final int JACOBI_BYTES = 32;

  /** SPARQR_PURSUIT_ROWS. */
  private static final int ROWS = 32;

  private static final int SUMS = 3;
  private static final int START_BLOCKS = 2048;

  /** Columns whose 32 rows of W fit into the shared memory of a block. */
  static final int MOST_COLUMNS = CudaModule.MOST_SHARED_BYTES / (8 * ROWS) - 8;

  private final CudaDenseQr qr;
  private final int rows;
  private final int columns;
  private final int padded;
  private final int parts;
  private final List<DeviceBuffer> buffers = new ArrayList<>();
  private final DeviceBuffer m;
  private final DeviceBuffer product;
  private final DeviceBuffer sums;
  private final DeviceBuffer vectors;

  /** The iteration's and the one before it; which is which changes. */
  private final DeviceBuffer[] s = new DeviceBuffer[2];

  private final DeviceBuffer[] y = new DeviceBuffer[2];
  private int now;
  private double scale;
  private double inverse;

  /**
   * Sends M.
   *
   * @param all m rows of n values, m at least n
   * @param threads of the host, for transfers
   * @throws io.sparqr.error.InsufficientMemoryException if it does not fit
   */
  CudaPursuit(DeviceSessions sessions, int ordinal, double[][] all, int threads) {
    rows = all.length;
    columns = all[0].length;
    padded = (columns + 7) / 8 * 8;
    parts = (rows + ROWS - 1) / ROWS;
    qr = new CudaDenseQr(sessions, ordinal, rows, columns, false, threads);
    boolean done = false;
    try {
      lane().device().bind();
      m = buffer((long) rows * columns);
      for (int k = 0; k < 2; k++) {
        s[k] = buffer((long) rows * columns);
        y[k] = buffer((long) rows * columns);
      }
      product = buffer((long) padded * padded);
      sums = buffer((long) SUMS * parts);
      vectors = buffer((long) columns * (columns + 1) + 1);
      // the kernel writes four of the last eight bytes, all of which travel
      lane().compute().fill(vectors.at(0), (byte) 0, vectors.bytes());
      qr.guarded(
          () -> {
            send(all);
            return true;
          });
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  private DeviceLane lane() {
    return qr.lane();
  }

  private DeviceBuffer buffer(long doubles) {
    var made = new DeviceBuffer(lane().device().driver(), 8 * doubles);
    buffers.add(made);
    return made;
  }

  private void send(double[][] all) {
    long[] bits =
        new DenseRows(m, columns, columns).send(lane().transfers(), lane().workers(), all);
    long sent = 0;
    for (long each : bits) {
      sent += each;
    }
    require(sent, m);
  }

  private void require(long bits, DeviceBuffer of) {
    MatrixSums there = qr.sums(columns);
    if (bits != there.bits(of.address(), (long) rows * columns)) {
      throw new IntegrityFailure("a matrix has other bits on the device than on the host");
    }
  }

  @Override
  public double[] reduced(double by) {
    scale = by;
    inverse = 0;
    // W = M - 0 + 0
    return turned(qr.factorInPlace(w -> start(w, 0, 0, 0)));
  }

  @Override
  public RightSvd begin(PursuitStart start) {
    return qr.guarded(() -> begun(start));
  }

  private RightSvd begun(PursuitStart start) {
    scale = start.scale();
    inverse = 1 / start.mu();
    double multiplier = start.method() == PursuitMethod.INEXACT_ALM ? start.multiplier() : 0;
    double threshold = start.lambda() * inverse;
    return svd(qr.factorInPlace(w -> start(w, inverse, threshold, multiplier)));
  }

  private void start(DeviceBuffer w, double over, double threshold, double multiplier) {
    ByteBuffer p = parameter(w, now, now);
    p.putDouble(scale).putDouble(over).putDouble(0).putDouble(0).putDouble(threshold);
    p.putDouble(0).putDouble(multiplier);
    lane().device().module().launchPursuitStart(lane().compute(), sizes(p, false), START_BLOCKS);
  }

  /** The pointers and the number of rows. */
  private ByteBuffer parameter(DeviceBuffer w, int from, int to) {
    ByteBuffer p = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
    p.putLong(m.address()).putLong(s[from].address()).putLong(y[from].address());
    p.putLong(s[to].address()).putLong(y[to].address()).putLong(w.address());
    return p.putLong(product.address()).putLong(sums.address()).putLong(rows);
  }

  private ByteBuffer sizes(ByteBuffer p, boolean alternating) {
    p.putInt(columns).putInt(padded).putInt(qr.leadingDimension());
    return p.putInt(alternating ? 1 : 0).flip();
  }

  @Override
  public Iterated advance(PursuitStep step) {
    return qr.guarded(() -> advanced(step));
  }

  private Iterated advanced(PursuitStep step) {
    lane().device().bind();
    sendProduct(step.product());
    int from = now;
    int to = 1 - now;
    double[] r =
        qr.factorInPlace(
            w -> {
              PursuitStart start = step.start();
              boolean alternating = start.method() == PursuitMethod.ADM;
              double next = 1 / step.nextMu();
              ByteBuffer p = parameter(w, from, to);
              p.putDouble(scale).putDouble(inverse).putDouble(step.mu()).putDouble(next);
              p.putDouble(start.lambda() * (alternating ? inverse : next));
              p.putDouble(start.unit() / step.mu()).putDouble(0);
              lane()
                  .device()
                  .module()
                  .launchPursuitStep(
                      lane().compute(), sizes(p, alternating), parts, 8 * ROWS * (padded + 4));
            });
    now = to;
    inverse = 1 / step.nextMu();
    return new Iterated(tally(), svd(r));
  }

  /** Of the rows that were factored last, whose R this is. */
  RightSvd svd(double[] r) {
    int bytes = 8 * columns * (columns + 1);
    if (bytes > CudaModule.MOST_SHARED_BYTES) {
      return RightSvd.of(turned(r), columns);
    }
    ByteBuffer p = ByteBuffer.allocateDirect(JACOBI_BYTES).order(ByteOrder.nativeOrder());
    long sweeps = vectors.address() + 8L * columns * (columns + 1);
    p.putLong(qr.packedR().address()).putLong(vectors.address()).putLong(sweeps);
    p.putInt(columns).putInt(0).flip();
    CudaStream stream = lane().compute();
    lane().device().module().launchJacobi(stream, p, bytes);
    PinnedBuffer buffer = lane().session().pinned().acquire(vectors.bytes());
    try {
      stream.download(buffer, 0, vectors.at(0), vectors.bytes());
      stream.synchronize();
      double[] out = new double[columns * (columns + 1)];
      buffer.view(0, 8 * out.length).asDoubleBuffer().get(out);
      int made = buffer.view(8 * out.length, 8 * out.length + 4).getInt();
      return JacobiSvd.checked(r, columns, out, made);
    } finally {
      lane().session().pinned().release(buffer);
    }
  }

  /** P, n x n, column-major, to its place, row-major with zeros. */
  private void sendProduct(double[] p) {
    int bytes = 8 * padded * padded;
    PinnedBuffer buffer = lane().session().pinned().acquire(bytes);
    try {
      double[] all = new double[padded * padded];
      for (int k = 0; k < columns; k++) {
        for (int j = 0; j < columns; j++) {
          all[k * padded + j] = p[k + j * columns];
        }
      }
      buffer.view(0, bytes).asDoubleBuffer().put(all);
      CudaStream stream = lane().compute();
      stream.upload(product.at(0), buffer, 0, bytes);
      stream.synchronize();
    } finally {
      lane().session().pinned().release(buffer);
    }
  }

  /** The blocks' sums, one after the other. */
  private PursuitTally tally() {
    int bytes = 8 * SUMS * parts;
    PinnedBuffer buffer = lane().session().pinned().acquire(bytes);
    try {
      lane().compute().download(buffer, 0, sums.at(0), bytes);
      lane().compute().synchronize();
      double[] part = new double[SUMS * parts];
      buffer.view(0, bytes).asDoubleBuffer().get(part);
      double residual = 0;
      double change = 0;
      long nonzeros = 0;
      for (int k = 0; k < part.length; k += SUMS) {
        residual += part[k];
        change += part[k + 1];
        nonzeros += (long) part[k + 2];
      }
      return PursuitTally.of(residual, change, nonzeros);
    } finally {
      lane().session().pinned().release(buffer);
    }
  }

  /** Row-major to column-major. */
  private double[] turned(double[] r) {
    double[] t = new double[r.length];
    for (int i = 0; i < columns; i++) {
      for (int k = i; k < columns; k++) {
        t[i + k * columns] = r[i * columns + k];
      }
    }
    return t;
  }

  @Override
  public void before(double[] sOfIt, double[] yOfIt) {
    qr.guarded(
        () -> {
          lane().device().bind();
          fetch(s[1 - now], sOfIt);
          fetch(y[1 - now], yOfIt);
          return true;
        });
  }

  private void fetch(DeviceBuffer from, double[] to) {
    long[] bits =
        new DenseRows(from, columns, columns).fetch(lane().transfers(), lane().workers(), to, rows);
    long sum = 0;
    for (long each : bits) {
      sum += each;
    }
    require(sum, from);
  }

  @Override
  public String description() {
    return lane().device().name();
  }

  @Override
  public void close() {
    if (qr.isClosed()) {
      return;
    }
    lane().device().bind();
    try {
      buffers.forEach(DeviceBuffer::close);
      buffers.clear();
    } finally {
      qr.close();
    }
  }
}
