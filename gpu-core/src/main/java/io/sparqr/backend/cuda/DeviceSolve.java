/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.staged.RoundExecutor.Solved;
import io.sparqr.backend.staged.SolveItems;
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
  static final int PARAMETER_BYTES = 72;

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

  /** Solves; the rounds and everything else on the stream precede it. */
  Solved run(DeviceColumnSums.Stage stage) {
    StageProgram program = stage.program();
    int count = SolveItems.count(program);
    ByteBuffer items = SolveItems.of(program, count);
    int[] start = program.columns().start();
    int[] number = program.columns().number();
    int words = program.fronts() + 2;
    int length = Math.multiplyExact(program.columns().count(), program.rhs());
    try (var itemsThere = new DeviceBuffer(driver, items.remaining());
        var startThere = new DeviceBuffer(driver, 4L * start.length);
        var numberThere = new DeviceBuffer(driver, 4L * number.length);
        var x = new DeviceBuffer(driver, 8L * length);
        var progress = new DeviceBuffer(driver, 8L * words)) {
      send(items.remaining(), 1, itemsThere, (to, at, n) -> to.put(items.slice(at, n)));
      send(start.length, 4, startThere, (to, at, n) -> to.asIntBuffer().put(start, at, n));
      send(number.length, 4, numberThere, (to, at, n) -> to.asIntBuffer().put(number, at, n));
      stream.fill(progress.at(0), (byte) 0, 8L * words);
      ByteBuffer p = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
      p.putLong(itemsThere.address());
      p.putLong(stage.memory().get(StageMemory.Part.FRONTS).address());
      p.putLong(stage.memory().get(StageMemory.Part.OUT).address());
      p.putLong(startThere.address()).putLong(numberThere.address());
      p.putLong(x.address()).putLong(progress.address());
      p.putLong(1_000_000 * StageMemory.waitMillis());
      p.putInt(program.rhs()).putInt(program.fronts());
      stage.module().launchSolve(stream, p.flip(), count);
      stream.synchronize();
      long[] ends = new long[2];
      var first = new Transfers.Slice(progress, 0, 8);
      var last = new Transfers.Slice(progress, 8L * (words - 1), 8);
      transfers.fetch(null, List.of(first, last), b -> b.asLongBuffer().get(ends));
      // the sign bit is SPARQR_GIVEN_UP
      if (ends[0] < 0) {
        throw new IntegrityFailure("back substitution on the device has not ended");
      }
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

  private void send(int length, int bytes, DeviceBuffer to, Writer writer) {
    pieces(
        length,
        bytes,
        (at, n) -> {
          var slice = new Transfers.Slice(to, (long) bytes * at, bytes * n);
          transfers.send(slice, b -> writer.write(b, at, n));
        });
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
