/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaModule.SolveKind;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.DeviceLists.Part;
import io.sparqr.backend.cuda.transfer.LoadedStage;
import io.sparqr.backend.cuda.transfer.PinnedPool;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.cuda.transfer.Workers;
import io.sparqr.backend.staged.executor.RoundExecutor.Solved;
import io.sparqr.numeric.Probe;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Back substitution with the rows of R in a stage's output buffer, by the kernels of {@code
 * back_substitution.cuh}: only x is downloaded. Its own memory is there for one solve only.
 */
public final class DeviceSolve {

  /** Bytes of SparqrSolve, the launch's parameter. */
  private static final int PARAMETER_BYTES = 88;

  private final CudaDriver driver;
  private final PinnedPool pinned;
  private final Transfers transfers;
  private final Workers workers;
  private final CudaStream stream;

  /** A solve on a stream; memory is taken when it runs. */
  public DeviceSolve(
      CudaDriver driver,
      PinnedPool pinned,
      Transfers transfers,
      Workers workers,
      CudaStream stream) {
    this.driver = driver;
    this.pinned = pinned;
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
  public Solved run(LoadedStage stage, DeviceLists lists) {
    int rhs = stage.program().rhs() + Probe.COUNT;
    int items = lists.sizes().backItems();
    int length = Math.multiplyExact(lists.sizes().columns(), rhs);
    try (var x = new DeviceBuffer(driver, 8L * length)) {
      lists.begin(Part.BACK_PROGRESS, stream);
      long[] places = {
        lists.address(Part.BACK),
        stage.memory().get(StageMemory.Part.OUT).address(),
        lists.address(Part.NUMBER),
        0,
        0,
        0,
        x.address(),
        0,
        lists.address(Part.BACK_PROGRESS)
      };
      ByteBuffer p = parameter(places, rhs, lists.sizes().storedRhs());
      stage.module().launchSolve(SolveKind.BACK_SUBSTITUTION, stream, p, items);
      stage.module().launchSolve(SolveKind.BACK_ERROR, stream, p, items);
      long[] ends = new long[2];
      PinnedBuffer words = pinned.acquire(16);
      try {
        lists.end(Part.BACK_PROGRESS, stream, words, 0, 2);
        stream.synchronize();
        words.view(0, 16).asLongBuffer().get(ends);
      } finally {
        pinned.release(words);
      }
      requireEnd(ends[0]);
      double[] solution = new double[length];
      int step = Transfers.PIECE_BYTES / 8;
      workers.run(
          (int) ((length + step - 1L) / step),
          i -> {
            int at = i * step;
            int n = Math.min(step, length - at);
            var slice = new Transfers.Slice(x, 8L * at, 8 * n);
            transfers.fetch(null, List.of(slice), b -> b.asDoubleBuffer().get(solution, at, n));
          });
      return new Solved(solution, Double.longBitsToDouble(ends[1]));
    }
  }
}
