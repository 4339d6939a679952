/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.resident.MatrixSums;
import io.sparqr.backend.cuda.resident.MatrixSums.Sums;
import io.sparqr.backend.cuda.transfer.DenseRows;
import io.sparqr.backend.cuda.transfer.OrderedUpload;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.cuda.transfer.StageUpload;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.executor.RoundExecutor.Slice;
import io.sparqr.backend.staged.layout.DenseStage;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.integrity.Balance;
import io.sparqr.numeric.integrity.DenseSums;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.integrity.Steps;
import io.sparqr.symbolic.Tuning;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The front of dense m x n matrices on a device: its memory and lists, the way of rows to it and of
 * R back, and the sums that both are checked by. Not thread-safe.
 */
final class DenseFront implements AutoCloseable {

  private final DeviceLane lane;
  private final SchedulerOptions options;
  private final StageProgram program;
  private final int rows;
  private final int columns;
  private final boolean keepsQ;
  private final long steps;
  private @Nullable MatrixSums sums;
  private boolean listsSent;
  private double kernelMillis;

  /** Makes lists; the session's context is current. */
  DenseFront(
      DeviceSession session, int rows, int columns, boolean keepsQ, int threads, Tuning tuning) {
    this.rows = rows;
    this.columns = columns;
    this.keepsQ = keepsQ;
    steps = Steps.ofFront(rows, columns);
    options = CudaSubtreeFactorizer.tuned(tuning, session.device().multiprocessors());
    program = DenseStage.of(rows, columns, options, keepsQ);
    lane = new DeviceLane(session, threads);
  }

  DeviceLane lane() {
    return lane;
  }

  int rows() {
    return rows;
  }

  int columns() {
    return columns;
  }

  /** The stage, whose only front it is. */
  StageProgram program() {
    return program;
  }

  FrontDescriptor descriptor() {
    return program.descriptor(0);
  }

  int bundle() {
    return options.bundle();
  }

  /** Reflectors that a column passes through. */
  long steps() {
    return steps;
  }

  /** Milliseconds of what was last {@link #timed}. */
  double kernelMillis() {
    return kernelMillis;
  }

  /** Room, and zeros. */
  void prepare() {
    lane.device().bind();
    lane.makeRoom(program);
    listsSent &= !lane.memory().reserve(program);
    lane.memory().clear(program, lane.compute());
  }

  /** R, its rows one after the other. */
  DeviceBuffer packedR() {
    return lane.memory().get(Part.OUT);
  }

  /** Where the rows are, a leading dimension apart. */
  DeviceBuffer arena() {
    return lane.memory().get(Part.ARENA);
  }

  /** Sends the rows of A, times powers of two if there are any. */
  Sums send(double[] a, double[] scale) {
    var its = new DenseRows(arena(), columns, descriptor().ld());
    long[] bits = its.send(lane.transfers(), lane.workers(), a, rows, scale);
    Sums there = sumsOfRows();
    requireSame(bits, there.bits());
    return there;
  }

  /** Sends the rows of A as they are, without looking at what arrives. */
  void sendRows(double[] a) {
    var its = new DenseRows(arena(), columns, descriptor().ld());
    its.send(lane.transfers(), lane.workers(), a, rows, DenseRows.unscaled());
  }

  /** The sums of the rows that are there. */
  Sums sumsOfRows() {
    return sums(columns).of(arena().address(), descriptor().ld(), rows, columns, keepsQ);
  }

  /** Refuses bits of columns that have changed on their way. */
  static void requireSame(long[] sent, long[] arrived) {
    if (!Arrays.equals(sent, arrived)) {
      throw new IntegrityFailure(
          "column %d of a dense matrix has other bits where it arrived than where it came from"
              .formatted(Arrays.mismatch(sent, arrived)));
    }
  }

  /** Room for the sums of a matrix of this width. */
  MatrixSums sums(int width) {
    MatrixSums last = sums;
    if (last != null && !last.holds(rows, width)) {
      sums = null;
      last.close();
      last = null;
    }
    if (last == null) {
      last =
          new MatrixSums(
              lane.device(),
              lane.session().pinned(),
              lane.compute(),
              rows,
              Math.max(width, columns));
      sums = last;
    }
    return last;
  }

  /**
   * Factors the rows that are there.
   *
   * @param sent their sums
   * @return R of them, n x n, row-major
   * @throws IntegrityFailure if it has not their sums
   */
  double[] factor(Sums sent) {
    run();
    double[] r = collect();
    DenseSums.require(departure(r, sent), steps, "R of a dense matrix");
    return r;
  }

  /** Factors the rows that are there and leaves R there. */
  void run() {
    var upload = new StageUpload(lane.transfers(), lane.memory());
    if (!listsSent) {
      upload.structure(program);
    }
    upload.states(program.initialState()).run(lane.workers());
    launch();
    requireEnd();
  }

  private double departure(double[] r, Sums sent) {
    return sent.sums().departure(DenseSums.of(r, columns, columns));
  }

  /** Whether R has the sums of the matrix, within rounding. */
  boolean hasSums(double[] r, Sums sent) {
    return Balance.within(departure(r, sent), steps);
  }

  private void launch() {
    StageMemory memory = lane.memory();
    ByteBuffer parameter = memory.parameter(-1, options.bundle(), false, null, null);
    StageSchedule schedule = program.schedule();
    OrderedUpload lists =
        listsSent
            ? null
            : new OrderedUpload(lane.transfers())
                .tasks(memory.get(Part.TASKS), schedule, TestModes.none().pieceBytes());
    try (OrderedUpload sending = lists == null ? null : lists.start(lane.workers())) {
      if (sending != null) {
        sending.await(schedule.rounds() - 1, lane.compute());
      }
      timed(
          () ->
              lane.device()
                  .module()
                  .launch(
                      options.bundle(),
                      lane.compute(),
                      parameter,
                      0,
                      Math.toIntExact(schedule.tasks())));
    }
    listsSent = true;
  }

  /** Enqueues something, waits for it, and takes its time. */
  void timed(Runnable enqueue) {
    try (var begin = new CudaEvent(lane.device().driver(), true);
        var end = new CudaEvent(lane.device().driver(), true)) {
      begin.record(lane.compute());
      enqueue.run();
      end.record(lane.compute());
      lane.compute().synchronize();
      kernelMillis = end.since(begin);
    }
  }

  /** R that is there, n x n, row-major; its bits are compared. */
  double[] collect() {
    double[] packed = new double[Math.toIntExact(program.outLength(0))];
    DeviceBuffer there = packedR();
    lane.download(there, List.of(new Slice(0, packed)));
    long bits = 0;
    for (double x : packed) {
      bits += Double.doubleToRawLongBits(x);
    }
    if (bits != sums(columns).bits(there.address(), packed.length)) {
      throw new IntegrityFailure("R of a dense matrix has other bits than on the device");
    }
    double[] full = new double[Math.multiplyExact(columns, columns)];
    int at = 0;
    for (int i = 0; i < columns; i++) {
      System.arraycopy(packed, at, full, i * columns + i, columns - i);
      at += columns - i;
    }
    return full;
  }

  private void requireEnd() {
    PinnedBuffer end = lane.session().pinned().acquire(StageMemory.END_BYTES);
    try {
      lane.compute()
          .download(end, 0, lane.memory().get(Part.PROGRESS).at(0), StageMemory.END_BYTES);
      lane.compute().synchronize();
      ByteBuffer words = end.view(0, StageMemory.END_BYTES);
      StageMemory.checkKinds(words.getLong());
      // the sign bit is SPARQR_GIVEN_UP
      if (words.getLong() < 0) {
        throw new IntegrityFailure("the rounds of a dense matrix have not ended");
      }
    } finally {
      lane.session().pinned().release(end);
    }
  }

  @Override
  public void close() {
    if (sums != null) {
      sums.close();
    }
    lane.close();
  }
}
