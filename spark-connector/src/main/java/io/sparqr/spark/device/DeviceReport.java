/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.backend.DeviceKey;
import io.sparqr.jvm.JvmPart;
import io.sparqr.partition.DeviceModel;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An executor's report of its GPUs to the driver at its start, if {@code SparqrPlugin} is enabled.
 *
 * @param executor Spark's id of the executor
 * @param free whether its tasks may use them even though Spark has not assigned any:
 *     CUDA_VISIBLE_DEVICES is set
 * @param devices the usable ones, by ordinal
 * @param keys what tunings of them are kept by, each once
 */
public record DeviceReport(
    String executor, boolean free, List<DeviceModel> devices, List<DeviceKey> keys)
    implements Serializable {

  private static final JvmPart<Map<String, DeviceReport>> RECEIVED =
      JvmPart.of("reports of devices", ConcurrentHashMap::new);

  /** Copies the lists. */
  public DeviceReport {
    devices = List.copyOf(devices);
    keys = List.copyOf(keys);
  }

  /** The report of this JVM. */
  public static DeviceReport ofThisJvm(String executor) {
    String visible = System.getenv("CUDA_VISIBLE_DEVICES");
    boolean free = visible != null && !visible.isBlank();
    return new DeviceReport(executor, free, Backends.devices(), TuningChoice.ofThisJvm());
  }

  /** Stores a report on the driver. */
  public static void received(DeviceReport report) {
    RECEIVED.get().put(report.executor, report);
  }

  /** Removes all reports at the end of the application. */
  public static void forgetAll() {
    RECEIVED.get().clear();
  }

  /** The different keys of all executors. */
  static List<DeviceKey> keysOfAll() {
    return RECEIVED.get().values().stream().flatMap(r -> r.keys.stream()).distinct().toList();
  }

  /** The report of an executor. */
  public static Optional<DeviceReport> of(String executor) {
    return Optional.ofNullable(RECEIVED.get().get(executor));
  }
}
