/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.error.BackendUnavailableException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.util.TaskCompletionListener;

/**
 * The right of one task to use one device of this JVM, given back when the task ends, however it
 * ends.
 */
public final class DeviceLease implements AutoCloseable {

  private static final Map<Integer, Semaphore> DEVICES = new ConcurrentHashMap<>();

  private final int device;
  private final AtomicBoolean held = new AtomicBoolean(true);

  private DeviceLease(int device) {
    this.device = device;
  }

  /**
   * Waits for the task's device. Which one: the task's GPU address where Spark gave it one (0 if
   * CUDA_VISIBLE_DEVICES narrows the JVM's view already), otherwise partition modulo count.
   *
   * @param devices devices that the JVM sees, at least 1
   * @throws BackendUnavailableException if the wait is interrupted
   */
  public static DeviceLease acquire(TaskContext task, int devices) {
    ResourceInformation gpu = task.resourcesJMap().get("gpu");
    String address = gpu == null || gpu.addresses().length == 0 ? null : gpu.addresses()[0];
    String visible = System.getenv("CUDA_VISIBLE_DEVICES");
    int device = device(visible, address, task.partitionId(), devices);
    try {
      DEVICES.computeIfAbsent(device, d -> new Semaphore(1, true)).acquire();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BackendUnavailableException("interrupted while waiting for a device", "cuda");
    }
    var lease = new DeviceLease(device);
    task.addTaskCompletionListener((TaskCompletionListener) context -> lease.close());
    return lease;
  }

  /** The rule by itself. */
  static int device(String visible, String address, int partition, int devices) {
    boolean narrowed = visible != null && !visible.isBlank();
    if (address != null && narrowed) {
      return 0;
    }
    if (address != null) {
      try {
        return Integer.parseInt(address.trim()) % devices;
      } catch (NumberFormatException e) {
        return 0;
      }
    }
    return Math.floorMod(partition, devices);
  }

  /** Device ordinal. */
  public int device() {
    return device;
  }

  /** Gives the device back; idempotent. */
  @Override
  public void close() {
    if (held.compareAndSet(true, false)) {
      DEVICES.get(device).release();
    }
  }
}
