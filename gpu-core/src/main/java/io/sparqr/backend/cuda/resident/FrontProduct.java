/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.transfer.ListUpload;
import io.sparqr.backend.cuda.transfer.PinnedPool;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.cuda.transfer.Workers;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.product.ProductList;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Products with Q, or with Q', of a tiled front whose V and T are on the device, by the kernels of
 * {@code dense/products.cuh}: 4 flops for each entry of V and column. Its list stays on the device
 * until close().
 */
public final class FrontProduct implements AutoCloseable {

  /** Bytes of SparqrProduct, the launch's parameter. */
  private static final int PARAMETER_BYTES = 96;

  /** Column tiles of a group, about: more read V and T less often, fewer keep more blocks busy. */
  private static final int GROUP_TILES = 4;

  /** Bytes of the tickets, before the counts of the row tiles. */
  private static final int HEAD = 8;

  private final CudaDriver driver;
  private final boolean transposed;
  private final int count;
  private final DeviceBuffer items;

  /**
   * Sends a list.
   *
   * @param transposed whether it is one of products with Q'
   */
  public FrontProduct(
      CudaDriver driver,
      Transfers transfers,
      Workers workers,
      ProductList list,
      boolean transposed) {
    this.driver = driver;
    this.transposed = transposed;
    count = list.count();
    items = new DeviceBuffer(driver, list.items().capacity());
    boolean sent = false;
    try {
      new ListUpload(transfers, items).bytes(0, list.items()).run(workers);
      sent = true;
    } finally {
      if (!sent) {
        items.close();
      }
    }
  }

  /**
   * The matrix of a product.
   *
   * @param c as many rows as the front has in the arena, row-major
   * @param columns a multiple of 32, as is the distance of rows
   */
  public record Matrix(DeviceBuffer c, int columns) {}

  /** How a product begins. */
  public enum Start {
    /** With the matrix as it is. */
    MATRIX,
    /** With the identity in its place; it must be zero. */
    IDENTITY
  }

  /**
   * Runs the product in place, after everything enqueued on the stream.
   *
   * @param memory of the stage, whose only front it is
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if a task waits in vain
   */
  public void run(
      CudaModule module,
      StageMemory memory,
      FrontDescriptor front,
      int bundle,
      Matrix matrix,
      Start start,
      CudaStream stream,
      PinnedPool pinned) {
    int tiles = matrix.columns / TaskLayout.TILE;
    int groups = (tiles + GROUP_TILES - 1) / GROUP_TILES;
    int group = (tiles + groups - 1) / groups * TaskLayout.TILE;
    int height = Math.min(front.fm(), front.fp());
    long words = HEAD + 4L * front.rowTiles() * groups;
    try (var progress = new DeviceBuffer(driver, words)) {
      stream.fill(progress.at(0), (byte) 0, words);
      ByteBuffer p = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
      p.putLong(items.address());
      p.putLong(memory.get(Part.ARENA).address() + 8 * front.data());
      p.putLong(memory.get(Part.VT).address());
      p.putLong(matrix.c.address());
      p.putLong(progress.address());
      p.putLong(progress.address() + HEAD);
      p.putLong(1_000_000 * StageMemory.waitMillis());
      p.putInt(front.ld()).putInt(front.fn());
      p.putInt(matrix.columns).putInt(matrix.columns);
      p.putInt(group).putInt(groups).putInt(height);
      p.putInt(transposed ? 1 : 0).putInt(start == Start.IDENTITY ? 1 : 0).putInt(0).flip();
      if (start == Start.IDENTITY) {
        module.launchIdentity(stream, p, matrix.columns);
      } else if (!transposed) {
        module.launchSigns(stream, p, height);
      }
      module.launchProduct(bundle, stream, p, Math.multiplyExact(count, groups));
      if (transposed) {
        module.launchSigns(stream, p, height);
      }
      PinnedBuffer end = pinned.acquire(HEAD);
      try {
        stream.download(end, 0, progress.at(0), HEAD);
        stream.synchronize();
        DeviceSolve.requireEnd(end.view(0, HEAD).getLong());
      } finally {
        pinned.release(end);
      }
    }
  }

  @Override
  public void close() {
    items.close();
  }
}
