/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.CudaModule.SolveKind;
import io.sparqr.backend.cuda.DeviceLists.Part;
import io.sparqr.backend.staged.KeptRows;
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
  private final DeviceLists lists;
  private final DeviceLists.Sizes sizes;
  private final DeviceBuffer out;
  private final CudaStream stream;

  /** For so many right-hand sides; replaced by larger ones. */
  private Vectors vectors;

  private volatile long lastUse = System.nanoTime();
  private volatile long bytes;
  private volatile boolean abandoned;
  private boolean closed;

  /** c, y, x and the fronts' vectors. */
  private record Vectors(int rhs, DeviceBuffer c, DeviceBuffer y, DeviceBuffer x, DeviceBuffer v) {

    static long bytes(DeviceLists.Sizes sizes, int rhs) {
      return 8L * rhs * (3L * sizes.columns() + sizes.places());
    }

    void close() {
      List.of(c, y, x, v).forEach(DeviceBuffer::close);
    }
  }

  /**
   * Takes rows and lists; the session's context must be current.
   *
   * @param out the rows, owned from here on, also if this fails; so are the lists
   */
  DeviceRows(DeviceSession session, DeviceLists lists, DeviceBuffer out) {
    this.session = session;
    this.lists = lists;
    this.out = out;
    sizes = lists.sizes();
    boolean done = false;
    CudaStream own = null;
    try {
      own = new CudaStream(session.device().driver());
      stream = own;
      vectors = vectors(1);
      done = true;
    } finally {
      if (!done) {
        out.close();
        lists.close();
        if (own != null) {
          own.close();
        }
      }
    }
    bytes = need(lists, out.bytes());
  }

  /** Bytes for rows with their lists and the vectors of one right-hand side. */
  static long need(DeviceLists lists, long rows) {
    return rows + lists.bytes() + Vectors.bytes(lists.sizes(), 1);
  }

  private Vectors vectors(int rhs) {
    CudaDriver driver = session.device().driver();
    var made = new ArrayList<DeviceBuffer>();
    boolean done = false;
    try {
      for (int k = 0; k < 3; k++) {
        made.add(new DeviceBuffer(driver, 8L * rhs * sizes.columns()));
      }
      made.add(new DeviceBuffer(driver, 8L * rhs * sizes.places()));
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
    return sizes.terms();
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
      bytes = out.bytes() + lists.bytes() + Vectors.bytes(sizes, rhs);
    }
  }

  private Normal run(double[] c, int rhs) {
    long length = 8L * c.length;
    PinnedBuffer buffer = session.pinned().acquire(length + 40);
    try {
      int end = Math.toIntExact(length);
      buffer.view(0, end).asDoubleBuffer().put(c);
      stream.upload(vectors.c.at(0), buffer, 0, length);
      lists.begin(Part.FORWARD_PROGRESS, stream);
      lists.begin(Part.BACK_PROGRESS, stream);
      CudaModule module = session.device().module();
      ByteBuffer forward =
          parameter(Part.FORWARD, Part.FORWARD_PROGRESS, vectors.c, vectors.y, rhs);
      module.launchSolve(SolveKind.FORWARD_SUBSTITUTION, stream, forward, sizes.forwardItems());
      module.launchSolve(SolveKind.FORWARD_ERROR, stream, forward, sizes.forwardItems());
      ByteBuffer back = parameter(Part.BACK, Part.BACK_PROGRESS, vectors.y, vectors.x, rhs);
      module.launchSolve(SolveKind.BACK_SUBSTITUTION, stream, back, sizes.backItems());
      module.launchSolve(SolveKind.BACK_ERROR, stream, back, sizes.backItems());
      stream.download(buffer, 0, vectors.x.at(0), length);
      lists.end(Part.FORWARD_PROGRESS, stream, buffer, length, 3);
      lists.end(Part.BACK_PROGRESS, stream, buffer, length + 24, 2);
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

  private ByteBuffer parameter(Part items, Part progress, DeviceBuffer c, DeviceBuffer x, int rhs) {
    long[] places = {
      lists.address(items),
      out.address(),
      lists.address(Part.NUMBER),
      lists.address(Part.GATHER),
      lists.address(Part.GATHER_FROM),
      c.address(),
      x.address(),
      vectors.v.address(),
      lists.address(progress)
    };
    return DeviceSolve.parameter(places, rhs, sizes.storedRhs());
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
    lists.close();
    out.close();
    stream.close();
  }
}
