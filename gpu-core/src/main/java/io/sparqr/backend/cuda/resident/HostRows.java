/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceAddress;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.storage.RowBudget;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A copy of a stage's rows in page-locked memory of the host, in slabs, because a buffer has at
 * most 2 GiB. Kernels can read it over the bus if it is one slab. Counted like all rows of R
 * outside the heap. Owned. Page-locking takes about 0.4 s a GB, a copy of what is page-locked 0.02
 * s.
 */
final class HostRows implements AutoCloseable {

  /** Bytes of a slab at most; whole pieces of {@link Transfers#PIECE_BYTES}. */
  static final int SLAB_BYTES = Integer.MAX_VALUE / Transfers.PIECE_BYTES * Transfers.PIECE_BYTES;

  private final RowBudget budget;
  private final long bytes;
  private final List<PinnedBuffer> slabs = new ArrayList<>();
  private final DeviceAddress address = new DeviceAddress();
  private boolean closed;

  private HostRows(RowBudget budget, long bytes) {
    this.budget = budget;
    this.bytes = bytes;
  }

  /**
   * Copies rows to the host; empty if the budget or the machine has no room. Waits for the stream;
   * the device's context must be current.
   */
  static Optional<HostRows> copy(
      CudaDriver driver, RowBudget budget, DeviceBuffer rows, CudaStream stream) {
    if (!budget.take(rows.bytes())) {
      return Optional.empty();
    }
    var copy = new HostRows(budget, rows.bytes());
    boolean done = false;
    try {
      copy.allocate(driver);
      copy.fill(rows, stream);
      done = true;
      return Optional.of(copy);
    } catch (InsufficientMemoryException e) {
      return Optional.empty();
    } finally {
      if (!done) {
        copy.close();
      }
    }
  }

  private void allocate(CudaDriver driver) {
    for (long from = 0; from < bytes; from += SLAB_BYTES) {
      slabs.add(new PinnedBuffer(driver, (int) Math.min(SLAB_BYTES, bytes - from)));
    }
    if (slabs.size() == 1) {
      driver.check(
          "cuMemHostGetDevicePointer",
          driver.calls().hostDeviceAddress(address, slabs.get(0).memory()));
    }
  }

  private void fill(DeviceBuffer rows, CudaStream stream) {
    for (int k = 0; k < slabs.size(); k++) {
      PinnedBuffer slab = slabs.get(k);
      stream.download(slab, 0, rows.at((long) k * SLAB_BYTES), slab.bytes());
    }
    stream.synchronize();
  }

  /** Copies them to the device, in the order of the stream. */
  void send(DeviceBuffer to, CudaStream stream) {
    for (int k = 0; k < slabs.size(); k++) {
      PinnedBuffer slab = slabs.get(k);
      stream.upload(to.at((long) k * SLAB_BYTES), slab, 0, slab.bytes());
    }
  }

  /** The address as a kernel parameter; empty if there is none for all rows. */
  OptionalLong address() {
    return slabs.size() == 1 ? OptionalLong.of(address.value()) : OptionalLong.empty();
  }

  /**
   * A view of some of the bytes, in native order.
   *
   * @param from a multiple of {@link Transfers#PIECE_BYTES}
   * @param length at most as much
   */
  ByteBuffer piece(long from, int length) {
    int at = (int) (from % SLAB_BYTES);
    return slabs.get((int) (from / SLAB_BYTES)).view(at, at + length);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      budget.give(bytes);
      slabs.forEach(PinnedBuffer::close);
    }
  }
}
