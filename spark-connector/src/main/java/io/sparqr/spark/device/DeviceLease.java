/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.error.BackendUnavailableException;
import io.sparqr.jvm.JvmPart;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;

/** The right of one task to use devices of this JVM, returned when the task ends in any way. */
public final class DeviceLease implements AutoCloseable {

  /** One permit a device. */
  private static final JvmPart<Map<Integer, Semaphore>> DEVICES =
      JvmPart.holding("leases of devices", ConcurrentHashMap::new, DeviceLease::taken);

  private final List<Integer> devices;
  private final long waitedNanos;
  private final List<Semaphore> permits;
  private final AtomicBoolean held = new AtomicBoolean(true);

  private DeviceLease(List<Integer> devices, List<Semaphore> permits, long waitedNanos) {
    this.devices = devices;
    this.permits = permits;
    this.waitedNanos = waitedNanos;
  }

  /**
   * The devices that a task may use; a task owns all that it is given.
   *
   * <ul>
   *   <li>If Spark assigned addresses: those devices. If CUDA_VISIBLE_DEVICES renumbers the
   *       devices: the positions of the addresses in that list.
   *   <li>Without addresses, with a local master or without Spark: all of them, if the plan has one
   *       worker; else the planned one. (With fewer devices than planned with, modulo their
   *       number.)
   *   <li>Without addresses, with CUDA_VISIBLE_DEVICES: partition modulo count.
   *   <li>Otherwise none, because the cluster manager has not granted any.
   * </ul>
   *
   * @param task Spark's context of the task, or none without Spark
   * @param planned the worker of the plan, which with a local master is the number of a device
   * @param devices devices visible to the JVM, at least 1
   * @param local whether the master is a local one
   * @param alone whether the plan has one worker
   * @return different ordinals
   * @throws BackendUnavailableException if Spark assigned a device that this JVM does not see
   */
  public static List<Integer> devices(
      @Nullable TaskContext task, int planned, int devices, boolean local, boolean alone) {
    String visible = System.getenv("CUDA_VISIBLE_DEVICES");
    ResourceInformation gpu = task == null ? null : task.resourcesJMap().get("gpu");
    List<String> addresses = gpu == null ? List.of() : List.of(gpu.addresses());
    int number = task == null || local ? planned : task.partitionId();
    return devices(visible, addresses, local, alone, number, devices);
  }

  /**
   * The rule without its environment.
   *
   * @param number the planned device, or what else distinguishes the tasks
   */
  static List<Integer> devices(
      @Nullable String visible,
      List<String> addresses,
      boolean local,
      boolean alone,
      int number,
      int devices) {
    String listed = visible == null ? "" : visible.trim();
    boolean narrowed = !listed.isEmpty();
    if (addresses.isEmpty()) {
      if (local && alone) {
        return IntStream.range(0, devices).boxed().toList();
      }
      return local || narrowed ? List.of(Math.floorMod(number, devices)) : List.of();
    }
    List<String> names = narrowed ? Arrays.asList(listed.split("\\s*,\\s*")) : List.of();
    var ordinals = new LinkedHashSet<Integer>();
    for (int k = 0; k < addresses.size(); k++) {
      String address = addresses.get(k).trim();
      int place = narrowed ? names.indexOf(address) : k;
      if (!narrowed && address.matches("[0-9]{1,6}")) {
        ordinals.add(ordinal(address, devices));
      } else {
        // Names of devices, or those of a list that is not the JVM's: counted from the first.
        ordinals.add(place >= 0 && place < devices ? place : Math.min(k, devices - 1));
      }
    }
    return List.copyOf(ordinals);
  }

  private static int ordinal(String address, int devices) {
    int ordinal = Integer.parseInt(address);
    if (ordinal >= devices) {
      throw new BackendUnavailableException(
          ("Spark gave the task GPU %d, but its JVM sees %d (0 to %d): what"
                  + " spark.executor.resource.gpu.discoveryScript prints must be devices of the"
                  + " executor")
              .formatted(ordinal, devices, devices - 1),
          "cuda");
    }
    return ordinal;
  }

  /**
   * Waits for devices. Those of several are taken in ascending order, so tasks do not wait for each
   * other in a circle.
   *
   * @param devices different ordinals, at least one
   * @throws BackendUnavailableException if the wait is interrupted
   */
  public static DeviceLease acquire(@Nullable TaskContext task, List<Integer> devices) {
    long begin = System.nanoTime();
    var permits = new ArrayList<Semaphore>();
    try {
      for (int device : devices.stream().sorted().toList()) {
        Semaphore permit = DEVICES.get().computeIfAbsent(device, d -> new Semaphore(1, true));
        permit.acquire();
        permits.add(permit);
      }
    } catch (InterruptedException e) {
      permits.forEach(Semaphore::release);
      Thread.currentThread().interrupt();
      throw new BackendUnavailableException("interrupted while waiting for a device", "cuda");
    }
    var lease = new DeviceLease(List.copyOf(devices), permits, System.nanoTime() - begin);
    if (task != null) {
      task.addTaskCompletionListener((TaskCompletionListener) context -> lease.close());
    }
    return lease;
  }

  private static long taken(Map<Integer, Semaphore> devices) {
    return devices.values().stream().filter(permit -> permit.availablePermits() == 0).count();
  }

  /** Device ordinals. */
  public List<Integer> devices() {
    return devices;
  }

  /** Time spent waiting for the devices. */
  public long waitedNanos() {
    return waitedNanos;
  }

  /** Returns the devices; idempotent. */
  @Override
  public void close() {
    if (held.compareAndSet(true, false)) {
      permits.forEach(Semaphore::release);
    }
  }
}
