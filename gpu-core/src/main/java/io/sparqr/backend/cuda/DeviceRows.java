/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.CudaModule.SolveKind;
import io.sparqr.backend.staged.KeptRows;
import io.sparqr.backend.staged.SolveLists;
import io.sparqr.error.FatalCudaException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The packed rows of a stage in device memory after its executor is closed, with what solves need:
 * items, columns, vectors, a stream. A solve is four launches in a row, by the kernels of {@code
 * forward_substitution.cuh} and {@code back_substitution.cuh}, and one transfer in each direction.
 * Freed by {@link #close}, by its {@link Residents} or with the session. Thread-safe.
 */
final class DeviceRows implements KeptRows {

  private final DeviceSession session;
  private final Sizes sizes;
  private final int forwardItems;
  private final int backItems;
  private final CudaStream stream;
  private final List<DeviceBuffer> owned = new ArrayList<>();
  private final long[] places = new long[9];
  private final long forwardAddress;
  private final long backAddress;
  private final DeviceBuffer forwardProgress;
  private final DeviceBuffer backProgress;

  /** For so many right-hand sides; replaced by larger ones. */
  private Vectors vectors;

  private volatile long lastUse = System.nanoTime();
  private volatile long bytes;
  private volatile boolean abandoned;
  private boolean closed;

  /** What solves need of the lists on the host. */
  private record Sizes(int columns, int places, int storedRhs, int terms, long listBytes) {

    static Sizes of(SolveLists l) {
      return new Sizes(l.columns(), l.number().length, l.storedRhs(), l.terms(), l.bytes());
    }

    /** Bytes on the device besides the rows. */
    long bytes(int rhs) {
      return listBytes + 8L * rhs * (3L * columns + places);
    }
  }

  /** c, y, x and the fronts' vectors. */
  private record Vectors(int rhs, DeviceBuffer c, DeviceBuffer y, DeviceBuffer x, DeviceBuffer v) {

    void close() {
      List.of(c, y, x, v).forEach(DeviceBuffer::close);
    }
  }

  /**
   * Uploads the lists; the session's context must be current.
   *
   * @param out the rows, owned from here on, also if this fails
   */
  DeviceRows(DeviceSession session, SolveLists lists, DeviceBuffer out, DeviceSolve upload) {
    this.session = session;
    this.sizes = Sizes.of(lists);
    owned.add(out);
    boolean done = false;
    CudaStream own = null;
    try {
      CudaDriver driver = session.device().driver();
      own = new CudaStream(driver);
      stream = own;
      forwardItems = SolveLists.items(lists.forward());
      backItems = SolveLists.items(lists.back());
      forwardAddress = own(upload.sent(lists.forward())).address();
      backAddress = own(upload.sent(lists.back())).address();
      places[1] = out.address();
      places[2] = own(upload.sent(lists.number())).address();
      places[3] = own(upload.sent(lists.gather())).address();
      places[4] = own(upload.sent(lists.gatherFrom())).address();
      forwardProgress = own(new DeviceBuffer(driver, 8L * SolveLists.words(lists.forwardCounts())));
      backProgress = own(new DeviceBuffer(driver, 8L * SolveLists.words(lists.backCounts())));
      vectors = vectors(1);
      done = true;
    } finally {
      if (!done) {
        owned.forEach(DeviceBuffer::close);
        if (own != null) {
          own.close();
        }
      }
    }
    bytes = out.bytes() + sizes.bytes(1);
  }

  private DeviceBuffer own(DeviceBuffer buffer) {
    owned.add(buffer);
    return buffer;
  }

  /** Bytes for rows with their lists and the vectors of one right-hand side. */
  static long need(SolveLists lists, long rows) {
    return rows + Sizes.of(lists).bytes(1);
  }

  private Vectors vectors(int rhs) {
    CudaDriver driver = session.device().driver();
    var made = new ArrayList<DeviceBuffer>();
    boolean done = false;
    try {
      for (int k = 0; k < 3; k++) {
        made.add(new DeviceBuffer(driver, 8L * rhs * sizes.columns));
      }
      made.add(new DeviceBuffer(driver, 8L * rhs * sizes.places));
      done = true;
    } finally {
      if (!done) {
        made.forEach(DeviceBuffer::close);
      }
    }
    return new Vectors(rhs, made.get(0), made.get(1), made.get(2), made.get(3));
  }

  /** Device memory held. */
  long bytes() {
    return bytes;
  }

  /** {@code System.nanoTime} of the last solve, or of the factorization. */
  long lastUse() {
    return lastUse;
  }

  @Override
  public int terms() {
    return sizes.terms;
  }

  @Override
  public synchronized Optional<Normal> solve(double[] c, int rhs) {
    if (closed || abandoned) {
      return Optional.empty();
    }
    lastUse = System.nanoTime();
    session.device().bind();
    try {
      room(rhs);
      return Optional.of(run(c, rhs));
    } catch (FatalCudaException e) {
      closed = true;
      session.lost(e);
      throw e;
    } finally {
      lastUse = System.nanoTime();
    }
  }

  private void room(int rhs) {
    if (vectors == null || rhs > vectors.rhs) {
      if (vectors != null) {
        vectors.close();
        vectors = null;
      }
      vectors = vectors(rhs);
      bytes = owned.get(0).bytes() + sizes.bytes(rhs);
    }
  }

  private Normal run(double[] c, int rhs) {
    long length = 8L * c.length;
    PinnedBuffer buffer = session.pinned().acquire(length + 40);
    try {
      int end = Math.toIntExact(length);
      buffer.view(0, end).asDoubleBuffer().put(c);
      stream.upload(vectors.c.at(0), buffer, 0, length);
      clear(forwardProgress);
      clear(backProgress);
      CudaModule module = session.device().module();
      ByteBuffer forward =
          parameter(forwardAddress, vectors.c, vectors.y, vectors.v, forwardProgress, rhs);
      module.launchSolve(SolveKind.FORWARD_SUBSTITUTION, stream, forward, forwardItems);
      module.launchSolve(SolveKind.FORWARD_ERROR, stream, forward, forwardItems);
      ByteBuffer back = parameter(backAddress, vectors.y, vectors.x, vectors.v, backProgress, rhs);
      module.launchSolve(SolveKind.BACK_SUBSTITUTION, stream, back, backItems);
      module.launchSolve(SolveKind.BACK_ERROR, stream, back, backItems);
      stream.download(buffer, 0, vectors.x.at(0), length);
      stream.download(buffer, length, forwardProgress.at(0), 24);
      stream.download(buffer, length + 24, backProgress.at(0), 16);
      stream.synchronize();
      double[] x = new double[c.length];
      buffer.view(0, end).asDoubleBuffer().get(x);
      long[] ends = new long[5];
      buffer.view(end, end + 40).asLongBuffer().get(ends);
      DeviceSolve.requireEnd(ends[0]);
      DeviceSolve.requireEnd(ends[3]);
      double error = Math.max(Double.longBitsToDouble(ends[1]), Double.longBitsToDouble(ends[4]));
      return new Normal(x, error, ends[2]);
    } finally {
      session.pinned().release(buffer);
    }
  }

  private void clear(DeviceBuffer progress) {
    stream.fill(progress.at(0), (byte) 0, progress.bytes());
  }

  private ByteBuffer parameter(
      long items, DeviceBuffer c, DeviceBuffer x, DeviceBuffer v, DeviceBuffer progress, int rhs) {
    long[] p = places.clone();
    p[0] = items;
    p[5] = c.address();
    p[6] = x.address();
    p[7] = v.address();
    p[8] = progress.address();
    return DeviceSolve.parameter(p, rhs, sizes.storedRhs);
  }

  /** Marks the memory as lost with its context. Without waiting: a solve under way fails too. */
  void abandon() {
    abandoned = true;
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    session.residents().remove(this);
    if (abandoned) {
      return;
    }
    session.device().bind();
    if (vectors != null) {
      vectors.close();
    }
    owned.forEach(DeviceBuffer::close);
    stream.close();
  }
}
