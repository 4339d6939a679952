/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.partition.DeviceModel;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What an executor tells the driver of its GPUs when it starts, where {@code SparqrPlugin} is
 * switched on.
 *
 * @param executor Spark's id of it
 * @param free whether its tasks may use them though Spark granted none: CUDA_VISIBLE_DEVICES is set
 * @param devices those that can be used, by ordinal
 */
public record DeviceReport(String executor, boolean free, List<DeviceModel> devices)
    implements Serializable {

  private static final Map<String, DeviceReport> RECEIVED = new ConcurrentHashMap<>();

  /** Copies the list. */
  public DeviceReport {
    devices = List.copyOf(devices);
  }

  /** Of this JVM. */
  public static DeviceReport ofThisJvm(String executor) {
    String visible = System.getenv("CUDA_VISIBLE_DEVICES");
    boolean free = visible != null && !visible.isBlank();
    return new DeviceReport(executor, free, Backends.devices());
  }

  /** The driver has got a report. */
  public static void received(DeviceReport report) {
    RECEIVED.put(report.executor, report);
  }

  /** The application ends. */
  public static void forgetAll() {
    RECEIVED.clear();
  }

  /** What an executor has told. */
  public static Optional<DeviceReport> of(String executor) {
    return Optional.ofNullable(RECEIVED.get(executor));
  }
}
