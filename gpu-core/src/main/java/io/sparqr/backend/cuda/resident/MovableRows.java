/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.storage.RowBudget;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Packed rows that kernels read: in device memory or, when others need that, in page-locked memory
 * of the host. Rows do not change, so a copy on the host stays there when they are brought back,
 * and they are not copied again. Owned; not thread-safe; the device's context must be current.
 */
final class MovableRows implements AutoCloseable {

  private final CudaDriver driver;
  private final RowBudget budget;
  private final long bytes;

  /** Null: moved to the host. */
  private @Nullable DeviceBuffer onDevice;

  /** Null: never moved. */
  private @Nullable HostRows onHost;

  /**
   * Takes over rows in device memory.
   *
   * @param budget of the host's memory
   */
  MovableRows(CudaDriver driver, RowBudget budget, DeviceBuffer rows) {
    this.driver = driver;
    this.budget = budget;
    onDevice = rows;
    bytes = rows.bytes();
  }

  /**
   * The address as a kernel parameter, until they move; empty if they are where kernels cannot read
   * them.
   */
  OptionalLong address() {
    return onDevice != null ? OptionalLong.of(onDevice.address()) : host().address();
  }

  private HostRows host() {
    return Objects.requireNonNull(onHost);
  }

  long bytes() {
    return bytes;
  }

  /** Device memory held. */
  long deviceBytes() {
    return onDevice == null ? 0 : bytes;
  }

  /** The rows in device memory; empty if they are not there. */
  Optional<DeviceBuffer> onDevice() {
    return Optional.ofNullable(onDevice);
  }

  /** The rows on the host; empty if they are not there. */
  Optional<HostRows> onHost() {
    return Optional.ofNullable(onHost);
  }

  /** Frees the device memory; false if the host has no room. Waits for the stream. */
  boolean toHost(CudaStream stream) {
    if (onDevice == null) {
      return true;
    }
    if (onHost == null) {
      onHost = HostRows.copy(driver, budget, onDevice, stream).orElse(null);
      if (onHost == null) {
        return false;
      }
    }
    DeviceBuffer free = onDevice;
    onDevice = null;
    free.close();
    return true;
  }

  /** Brings them back, for the stream's later work; false if the device has no room. */
  boolean toDevice(CudaStream stream) {
    if (onDevice != null) {
      return true;
    }
    DeviceBuffer room;
    try {
      room = new DeviceBuffer(driver, bytes);
    } catch (InsufficientMemoryException e) {
      return false;
    }
    boolean done = false;
    try {
      host().send(room, stream);
      done = true;
    } finally {
      if (!done) {
        room.close();
      }
    }
    onDevice = room;
    return true;
  }

  @Override
  public void close() {
    if (onDevice != null) {
      onDevice.close();
    }
    if (onHost != null) {
      onHost.close();
    }
  }
}
