/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.CudaModule.SolveKind;
import io.sparqr.backend.staged.RoundExecutor.Solved;
import io.sparqr.backend.staged.SolveLists;
import io.sparqr.backend.staged.StageProgram;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Back substitution with the rows of R in a stage's output buffer, by the kernels of {@code
 * back_substitution.cuh}: only x is downloaded. Its own memory is there for one solve only.
 */
final class DeviceSolve {

  /** Bytes of SparqrSolve, the launch's parameter. */
  private static final int PARAMETER_BYTES = 88;

  private final CudaDriver driver;
  private final Transfers transfers;
  private final Workers workers;
  private final CudaStream stream;

  DeviceSolve(CudaDriver driver, Transfers transfers, Workers workers, CudaStream stream) {
    this.driver = driver;
    this.transfers = transfers;
    this.workers = workers;
    this.stream = stream;
  }

  /**
   * SparqrSolve.
   *
   * @param places addresses in its order: items, rows, number, gather, gather_from, c, x, v,
   *     progress
   */
  static ByteBuffer parameter(long[] places, int rhs, int storedRhs) {
    ByteBuffer p = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
    for (long place : places) {
      p.putLong(place);
    }
    return p.putLong(1_000_000 * StageMemory.waitMillis()).putInt(rhs).putInt(storedRhs).flip();
  }

  /** Refuses a list that has been given up, by the first word of its progress. */
  static void requireEnd(long tickets) {
    // the sign bit is SPARQR_GIVEN_UP
    if (tickets < 0) {
      throw new IntegrityFailure("a solve on the device has not ended");
    }
  }

  /** Solves; the rounds and everything else on the stream precede it. */
  Solved run(DeviceColumnSums.Stage stage) {
    StageProgram program = stage.program();
    SolveLists lists = SolveLists.backOnly(program, workers.threads());
    int items = SolveLists.items(lists.back());
    long progressBytes = 8L * SolveLists.words(lists.backCounts());
    int length = Math.multiplyExact(lists.columns(), program.rhs());
    try (var itemsThere = sent(lists.back());
        var numberThere = sent(lists.number());
        var x = new DeviceBuffer(driver, 8L * length);
        var progress = new DeviceBuffer(driver, progressBytes)) {
      stream.fill(progress.at(0), (byte) 0, progressBytes);
      long[] places = {
        itemsThere.address(),
        stage.memory().get(StageMemory.Part.OUT).address(),
        numberThere.address(),
        0,
        0,
        0,
        x.address(),
        0,
        progress.address()
      };
      ByteBuffer p = parameter(places, program.rhs(), lists.storedRhs());
      stage.module().launchSolve(SolveKind.BACK_SUBSTITUTION, stream, p, items);
      stage.module().launchSolve(SolveKind.BACK_ERROR, stream, p, items);
      stream.synchronize();
      long[] ends = new long[2];
      transfers.fetch(
          null, List.of(new Transfers.Slice(progress, 0, 16)), b -> b.asLongBuffer().get(ends));
      requireEnd(ends[0]);
      double[] solution = new double[length];
      pieces(
          length,
          8,
          (at, n) -> {
            var slice = new Transfers.Slice(x, 8L * at, 8 * n);
            transfers.fetch(null, List.of(slice), b -> b.asDoubleBuffer().get(solution, at, n));
          });
      return new Solved(solution, Double.longBitsToDouble(ends[1]));
    }
  }

  /** Writes elements [at, at + n) to a buffer's position. */
  private interface Writer {
    void write(ByteBuffer to, int at, int n);
  }

  /** The items of a list on the device, owned by the caller. */
  DeviceBuffer sent(ByteBuffer items) {
    return sent(items.limit(), 1, (to, at, n) -> to.put(items.slice(at, n)));
  }

  /** An array on the device, owned by the caller. */
  DeviceBuffer sent(int[] array) {
    return sent(array.length, 4, (to, at, n) -> to.asIntBuffer().put(array, at, n));
  }

  private DeviceBuffer sent(int length, int bytes, Writer writer) {
    var there = new DeviceBuffer(driver, (long) bytes * length);
    try {
      pieces(
          length,
          bytes,
          (at, n) -> {
            var slice = new Transfers.Slice(there, (long) bytes * at, bytes * n);
            transfers.send(slice, b -> writer.write(b, at, n));
          });
      return there;
    } catch (RuntimeException | Error e) {
      there.close();
      throw e;
    }
  }

  /** Work on n elements from {@code at} on. */
  private interface Piece {
    void run(int at, int n);
  }

  private void pieces(int length, int bytes, Piece piece) {
    int step = Transfers.PIECE_BYTES / bytes;
    workers.run(
        (int) ((length + step - 1L) / step),
        i -> piece.run(i * step, Math.min(step, length - i * step)));
  }
}
