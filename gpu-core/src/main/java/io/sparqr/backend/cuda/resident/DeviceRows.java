/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaModule.SolveKind;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.DeviceLists.Part;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.cuda.transfer.Workers;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.Probe;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.storage.RowBudget;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * The packed rows of a stage after its executor is closed, with what solves need: items, columns,
 * vectors, a stream. A solve is up to four launches in a row, by the kernels of {@code
 * forward_substitution.cuh} and {@code back_substitution.cuh}, and one transfer in each direction.
 *
 * <p>The rows are in device memory. When others need that, they move to page-locked memory of the
 * host, and the kernels read them there until a solve finds room for them on the device again: the
 * same kernels, so the same bits. Freed by {@link #close}, by its {@link Residents} or with the
 * session. Thread-safe.
 */
public final class DeviceRows implements KeptRows {

  private final DeviceSession session;
  private final DeviceLists lists;
  private final DeviceLists.Sizes sizes;
  private final MovableRows rows;
  private final CudaStream stream;
  private volatile ResidentFactor.Claim claim = ResidentFactor.Claim.NONE;

  /** For this many right-hand sides; replaced by larger ones. */
  private Vectors vectors;

  private volatile long lastUse = System.nanoTime();
  private volatile long bytes;
  private volatile boolean moved;
  private volatile boolean abandoned;
  private volatile boolean closed;

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
  public DeviceRows(DeviceSession session, DeviceLists lists, DeviceBuffer out) {
    this.session = session;
    this.lists = lists;
    rows = new MovableRows(session.device().driver(), RowBudget.ofJvm(), out);
    sizes = lists.sizes();
    boolean done = false;
    CudaStream own = null;
    try {
      own = new CudaStream(session.device().driver());
      stream = own;
      vectors = vectors(first(sizes));
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
    count();
  }

  /** Bytes for rows with their lists and the vectors of the stored right-hand sides' solve. */
  public static long need(DeviceLists lists, long rows) {
    return rows + lists.bytes() + Vectors.bytes(lists.sizes(), first(lists.sizes()));
  }

  /** The width of the first solve: the stored right-hand sides and the probe, if there are any. */
  private static int first(DeviceLists.Sizes sizes) {
    return sizes.storedRhs() == 0 ? 1 : sizes.storedRhs() + Probe.COUNT;
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

  @Override
  public long bytes() {
    return bytes;
  }

  private void count() {
    moved = rows.onDevice().isEmpty();
    bytes =
        rows.deviceBytes()
            + lists.bytes()
            + Vectors.bytes(sizes, vectors == null ? 0 : vectors.rhs);
  }

  /** Whether the rows are on the host, and not in device memory. */
  boolean moved() {
    return moved;
  }

  /** {@code System.nanoTime} of the last solve, or of the factorization. */
  long lastUse() {
    return lastUse;
  }

  @Override
  public int outside() {
    return sizes.outside();
  }

  @Override
  public int terms() {
    return sizes.terms();
  }

  @Override
  public Optional<Solved> solve(double[] c, int rhs) {
    return used(rhs, () -> run(c, rhs));
  }

  @Override
  public Optional<Solved> forward(double[] c, int rhs) {
    return used(rhs, () -> runForward(c, rhs));
  }

  @Override
  public Optional<Solved> back(double[] given, int rhs) {
    return used(rhs, () -> runBack(given, rhs));
  }

  @Override
  public Optional<Solved> solveStored(double[] outside) {
    return sizes.storedRhs() == 0
        ? Optional.empty()
        : used(sizes.storedRhs() + Probe.COUNT, () -> runStored(outside));
  }

  @Override
  public OptionalLong bits() {
    return used(1, this::runBits).map(OptionalLong::of).orElseGet(OptionalLong::empty);
  }

  private <T> Optional<T> used(int rhs, Supplier<T> solve) {
    long bytes = 8L * rhs * sizes.columns();
    if (bytes > Integer.MAX_VALUE - 64) {
      throw new InsufficientMemoryException(
          rhs + " right-hand sides of " + sizes.columns() + " columns exceed a buffer",
          bytes,
          Integer.MAX_VALUE);
    }
    if (moved) {
      // Not under the monitor: who leaves may wait for a solve of its own.
      session.residents().leave(rows.bytes(), session.device().totalBytes());
    }
    return used(
        () -> {
          room(rhs);
          bringBack();
          return solve.get();
        });
  }

  private synchronized <T> Optional<T> used(Supplier<T> work) {
    lastUse = System.nanoTime();
    try {
      return whileThere(work);
    } finally {
      lastUse = System.nanoTime();
    }
  }

  private synchronized <T> Optional<T> whileThere(Supplier<T> work) {
    if (closed || abandoned) {
      return Optional.empty();
    }
    session.device().bind();
    try {
      return Optional.of(work.get());
    } catch (FatalCudaException e) {
      closed = true;
      session.lost(e);
      throw e;
    }
  }

  /**
   * Moves the rows to the device again if there is room; else kernels read them over the bus.
   *
   * @throws InsufficientMemoryException if there is no room, and they cannot
   */
  private void bringBack() {
    CudaDevice device = session.device();
    if (moved && session.residents().hasRoom(rows.bytes(), device.totalBytes())) {
      rows.toDevice(stream);
      count();
    }
    if (rows.address().isEmpty()) {
      throw new InsufficientMemoryException(
          "rows of R have left the device, which has no room for them",
          rows.bytes(),
          device.freeBytes());
    }
  }

  @Override
  public boolean read(int threads, Piece into) {
    return used(() -> {
          download(threads, into);
          return true;
        })
        .isPresent();
  }

  private void download(int threads, Piece into) {
    long doubles = sizes.outDoubles();
    int step = Transfers.PIECE_BYTES / Double.BYTES;
    int pieces = Math.toIntExact((doubles + step - 1) / step);
    Optional<HostRows> here = rows.onHost();
    try (var workers = new Workers(session.device(), threads);
        var transfers = new Transfers(session.device().driver(), session.pinned())) {
      workers.run(
          pieces,
          i -> {
            long from = (long) i * step;
            long at = Double.BYTES * from;
            int length = Double.BYTES * (int) Math.min(step, doubles - from);
            if (here.isPresent()) {
              into.take(from, here.get().piece(at, length).asDoubleBuffer());
            } else {
              var slice = new Transfers.Slice(rows.onDevice().orElseThrow(), at, length);
              transfers.fetch(null, List.of(slice), b -> into.take(from, b.asDoubleBuffer()));
            }
          });
    }
  }

  @Override
  public void claimed(ResidentFactor.Claim by) {
    claim = by;
  }

  @Override
  public boolean areThere() {
    return !closed && !abandoned;
  }

  /**
   * Leaves device memory to others: the rows' if they are claimed and the host has room for them,
   * else all.
   */
  void makeRoom() {
    boolean leave = claim.stands() && !moved;
    if (!leave || !whileThere(this::leaveDevice).orElse(true)) {
      giveWay();
    }
  }

  private boolean leaveDevice() {
    boolean left = rows.toHost(stream);
    count();
    return left;
  }

  /** Frees the rows, after those who still need them have had their chance. */
  void giveWay() {
    if (areThere() && claim.stands()) {
      claim.take();
    }
    close();
  }

  @SuppressWarnings("NullAway") // none between the old vectors and the new ones
  private void room(int rhs) {
    if (vectors == null || rhs > vectors.rhs) {
      if (vectors != null) {
        vectors.close();
        vectors = null;
      }
      vectors = vectors(rhs);
      count();
    }
  }

  private Solved run(double[] c, int rhs) {
    long length = 8L * c.length;
    PinnedBuffer buffer = session.pinned().acquire(length + 40);
    try {
      int end = Math.toIntExact(length);
      buffer.view(0, end).asDoubleBuffer().put(c);
      stream.upload(vectors.c.at(0), buffer, 0, length);
      launchForward(rhs);
      return back(vectors.y.address(), rhs, buffer, end);
    } finally {
      session.pinned().release(buffer);
    }
  }

  /** R'y = c and its check. */
  private void launchForward(int rhs) {
    lists.begin(Part.FORWARD_PROGRESS, stream);
    ByteBuffer forward =
        parameter(Part.FORWARD, Part.FORWARD_PROGRESS, vectors.c.address(), vectors.y, rhs);
    launch(SolveKind.FORWARD_SUBSTITUTION, forward);
    launch(SolveKind.FORWARD_ERROR, forward);
  }

  /** The check alone, of zero vectors: nothing is solved forward, the rows' bits are summed. */
  private void launchBits() {
    lists.begin(Part.FORWARD_PROGRESS, stream);
    for (DeviceBuffer vector : List.of(vectors.c, vectors.y, vectors.v)) {
      stream.fill(vector.at(0), (byte) 0, vector.bytes());
    }
    launch(
        SolveKind.FORWARD_ERROR,
        parameter(Part.FORWARD, Part.FORWARD_PROGRESS, vectors.c.address(), vectors.y, 1));
  }

  private Solved runForward(double[] c, int rhs) {
    int own = 8 * rhs * sizes.pivots();
    int end = 8 * rhs * sizes.columns();
    PinnedBuffer buffer = session.pinned().acquire(end + 24L);
    try {
      buffer.view(0, own).asDoubleBuffer().put(c);
      stream.upload(vectors.c.at(0), buffer, 0, own);
      launchForward(rhs);
      stream.download(buffer, 0, vectors.y.at(0), own);
      if (end > own) {
        long updates = 8L * rhs * (sizes.places() - sizes.outside());
        stream.download(buffer, own, vectors.v.at(updates), end - own);
      }
      lists.end(Part.FORWARD_PROGRESS, stream, buffer, end, 3);
      stream.synchronize();
      double[] y = new double[end / 8];
      buffer.view(0, end).asDoubleBuffer().get(y);
      long[] ends = ends(buffer, end, 3);
      return new Solved(y, Double.longBitsToDouble(ends[1]), ends[2]);
    } finally {
      session.pinned().release(buffer);
    }
  }

  private Solved runBack(double[] given, int rhs) {
    int own = 8 * rhs * sizes.pivots();
    int end = 8 * rhs * sizes.columns();
    PinnedBuffer buffer = session.pinned().acquire(end + 40L);
    try {
      launchBits();
      buffer.view(0, end).asDoubleBuffer().put(given);
      stream.upload(vectors.c.at(0), buffer, 0, own);
      giveOutside(buffer, own, own, end - own);
      return back(vectors.c.address(), rhs, buffer, own);
    } finally {
      session.pinned().release(buffer);
    }
  }

  /** The right-hand sides are beside the rows. */
  private Solved runStored(double[] outside) {
    int rhs = sizes.storedRhs() + Probe.COUNT;
    int own = 8 * rhs * sizes.pivots();
    int given = 8 * outside.length;
    PinnedBuffer buffer = session.pinned().acquire(Math.max(own + 40L, given));
    try {
      launchBits();
      buffer.view(0, given).asDoubleBuffer().put(outside);
      giveOutside(buffer, 0, own, given);
      return back(0, rhs, buffer, own);
    } finally {
      session.pinned().release(buffer);
    }
  }

  /** Sends x at the columns outside, which follow those at the task's pivots. */
  private void giveOutside(PinnedBuffer buffer, int from, int own, int bytes) {
    if (bytes > 0) {
      stream.upload(vectors.x.at(own), buffer, from, bytes);
    }
  }

  private long runBits() {
    PinnedBuffer buffer = session.pinned().acquire(24);
    try {
      launchBits();
      lists.end(Part.FORWARD_PROGRESS, stream, buffer, 0, 3);
      stream.synchronize();
      return ends(buffer, 0, 3)[2];
    } finally {
      session.pinned().release(buffer);
    }
  }

  /** The first words of a solve's progress, from a byte of the buffer on; it must have ended. */
  private static long[] ends(PinnedBuffer buffer, int from, int words) {
    long[] ends = new long[words];
    buffer.view(from, from + 8 * words).asLongBuffer().get(ends);
    DeviceSolve.requireEnd(ends[0]);
    return ends;
  }

  /**
   * R x = c after the forward launches, and the results of all.
   *
   * @param c its address; 0: what is stored with R
   * @param buffer receives x and, from its byte {@code end} on, the ends of the solves
   */
  private Solved back(long c, int rhs, PinnedBuffer buffer, int end) {
    lists.begin(Part.BACK_PROGRESS, stream);
    ByteBuffer back = parameter(Part.BACK, Part.BACK_PROGRESS, c, vectors.x, rhs);
    launch(SolveKind.BACK_SUBSTITUTION, back);
    launch(SolveKind.BACK_ERROR, back);
    stream.download(buffer, 0, vectors.x.at(0), end);
    lists.end(Part.FORWARD_PROGRESS, stream, buffer, end, 3);
    lists.end(Part.BACK_PROGRESS, stream, buffer, end + 24, 2);
    stream.synchronize();
    double[] x = new double[end / 8];
    buffer.view(0, end).asDoubleBuffer().get(x);
    long[] ends = ends(buffer, end, 5);
    DeviceSolve.requireEnd(ends[3]);
    double error = Math.max(Double.longBitsToDouble(ends[1]), Double.longBitsToDouble(ends[4]));
    return new Solved(x, error, ends[2]);
  }

  private void launch(SolveKind kind, ByteBuffer parameter) {
    boolean back = kind == SolveKind.BACK_SUBSTITUTION || kind == SolveKind.BACK_ERROR;
    int items = back ? sizes.backItems() : sizes.forwardItems();
    session.device().module().launchSolve(kind, stream, parameter, items);
  }

  private ByteBuffer parameter(Part items, Part progress, long c, DeviceBuffer x, int rhs) {
    long[] places = {
      lists.address(items),
      rows.address().orElseThrow(),
      lists.address(Part.NUMBER),
      lists.address(Part.GATHER),
      lists.address(Part.GATHER_FROM),
      c,
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
    rows.close();
    stream.close();
  }
}
