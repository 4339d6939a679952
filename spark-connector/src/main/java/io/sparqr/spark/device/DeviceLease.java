/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.error.BackendUnavailableException;
import io.sparqr.jvm.JvmPart;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;

/** The right of one task to use one device of this JVM, returned when the task ends in any way. */
public final class DeviceLease implements AutoCloseable {

  /** One permit a device. */
  private static final JvmPart<Map<Integer, Semaphore>> DEVICES =
      JvmPart.holding("leases of devices", ConcurrentHashMap::new, DeviceLease::taken);

  private final int device;
  private final long waitedNanos;
  private final Semaphore permit;
  private final AtomicBoolean held = new AtomicBoolean(true);

  private DeviceLease(int device, Semaphore permit, long waitedNanos) {
    this.device = device;
    this.permit = permit;
    this.waitedNanos = waitedNanos;
  }

  /**
   * The device that a task may use, if any.
   *
   * <ul>
   *   <li>If Spark assigned an address: that device. If CUDA_VISIBLE_DEVICES renumbers the devices:
   *       the position of the address in that list, or 0.
   *   <li>Without an address, with a local master or without Spark: the planned one. (With fewer
   *       devices than planned with, modulo their number.)
   *   <li>Without an address, with CUDA_VISIBLE_DEVICES: partition modulo count.
   *   <li>Otherwise none, because the cluster manager has not granted any.
   * </ul>
   *
   * @param task Spark's context of the task, or none without Spark
   * @param planned the worker of the plan, which with a local master is the number of a device
   * @param devices devices visible to the JVM, at least 1
   * @param local whether the master is a local one
   * @throws BackendUnavailableException if Spark assigned a device that this JVM does not see
   */
  public static OptionalInt device(
      @Nullable TaskContext task, int planned, int devices, boolean local) {
    String visible = System.getenv("CUDA_VISIBLE_DEVICES");
    if (task == null) {
      return device(visible, null, local, planned, devices);
    }
    ResourceInformation gpu = task.resourcesJMap().get("gpu");
    String address = gpu == null || gpu.addresses().length == 0 ? null : gpu.addresses()[0];
    return device(visible, address, local, local ? planned : task.partitionId(), devices);
  }

  /**
   * The rule without its environment.
   *
   * @param number the planned device, or what else distinguishes the tasks
   */
  static OptionalInt device(
      @Nullable String visible, @Nullable String address, boolean local, int number, int devices) {
    String listed = visible == null ? "" : visible.trim();
    boolean narrowed = !listed.isEmpty();
    if (address == null) {
      return local || narrowed
          ? OptionalInt.of(Math.floorMod(number, devices))
          : OptionalInt.empty();
    }
    if (narrowed) {
      int place = Arrays.asList(listed.split("\\s*,\\s*")).indexOf(address.trim());
      return OptionalInt.of(place >= 0 && place < devices ? place : 0);
    }
    if (!address.trim().matches("[0-9]{1,6}")) {
      return OptionalInt.of(0);
    }
    int ordinal = Integer.parseInt(address.trim());
    if (ordinal >= devices) {
      throw new BackendUnavailableException(
          ("Spark gave the task GPU %d, but its JVM sees %d (0 to %d): what"
                  + " spark.executor.resource.gpu.discoveryScript prints must be devices of the"
                  + " executor")
              .formatted(ordinal, devices, devices - 1),
          "cuda");
    }
    return OptionalInt.of(ordinal);
  }

  /**
   * Waits for a device.
   *
   * @throws BackendUnavailableException if the wait is interrupted
   */
  public static DeviceLease acquire(@Nullable TaskContext task, int device) {
    long begin = System.nanoTime();
    Semaphore permit = DEVICES.get().computeIfAbsent(device, d -> new Semaphore(1, true));
    try {
      permit.acquire();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BackendUnavailableException("interrupted while waiting for a device", "cuda");
    }
    var lease = new DeviceLease(device, permit, System.nanoTime() - begin);
    if (task != null) {
      task.addTaskCompletionListener((TaskCompletionListener) context -> lease.close());
    }
    return lease;
  }

  private static long taken(Map<Integer, Semaphore> devices) {
    return devices.values().stream().filter(permit -> permit.availablePermits() == 0).count();
  }

  /** Device ordinal. */
  public int device() {
    return device;
  }

  /** Time spent waiting for the device. */
  public long waitedNanos() {
    return waitedNanos;
  }

  /** Returns the device; idempotent. */
  @Override
  public void close() {
    if (held.compareAndSet(true, false)) {
      permit.release();
    }
  }
}
