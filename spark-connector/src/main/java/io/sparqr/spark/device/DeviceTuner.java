/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.backend.DeviceKey;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.backend.tuning.TuningBench;
import io.sparqr.backend.tuning.TuningOutcome;
import io.sparqr.backend.tuning.TuningSearch;
import io.sparqr.error.BackendUnavailableException;
import java.util.List;
import java.util.Optional;

/** Searches for the tuning of a device of this JVM. */
public final class DeviceTuner {

  private DeviceTuner() {}

  /**
   * What was found.
   *
   * @param key what it was measured on
   */
  public record Tuned(DeviceKey key, TuningOutcome outcome) {}

  /**
   * Measures, for about so many seconds; other tasks of this JVM wait for the device.
   *
   * @throws BackendUnavailableException if there is no such device
   */
  public static Tuned tune(int device, double seconds) {
    return tune(Backends.cuda(), device, seconds);
  }

  static Tuned tune(Backends.Cuda cuda, int device, double seconds) {
    cuda.obstacle().ifPresent(Backends::cudaIsRequired);
    QrBackendProvider provider = cuda.provider().orElseThrow();
    Optional<DeviceKey> key = provider.key(device);
    if (key.isEmpty()) {
      Backends.cudaIsRequired(
          "no device %d that can be asked: there are %d".formatted(device, provider.devices()));
    }
    int threads = Runtime.getRuntime().availableProcessors();
    DeviceLease lease = DeviceLease.acquire(null, List.of(device));
    try (TuningBench bench = provider.bench(device, threads).orElseThrow()) {
      return new Tuned(key.orElseThrow(), new TuningSearch(bench, System::nanoTime, seconds).run());
    } finally {
      lease.close();
    }
  }
}
