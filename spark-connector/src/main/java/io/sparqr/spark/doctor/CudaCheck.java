/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.partition.DeviceModel;
import io.sparqr.spark.device.Backends;
import io.sparqr.symbolic.SymbolicSummary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;

/** The CUDA driver, its devices, and the jar's kernels for each. */
final class CudaCheck implements HostCheck {

  @Override
  public String name() {
    return "cuda";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    boolean driver = Files.exists(Path.of("/proc/driver/nvidia/version"));
    Optional<String> obstacle = Backends.cudaObstacle();
    judge(driver, obstacle, obstacle.isPresent() ? List.of() : Backends.devices(), findings);
    if (obstacle.isEmpty()) {
      for (String text : Backends.deviceTexts()) {
        findings.ok("%s", text);
      }
    }
  }

  /**
   * The verdict.
   *
   * @param driver whether the machine has NVIDIA's driver
   * @param obstacle why the backend cannot be used; empty if it can
   */
  static void judge(
      boolean driver, Optional<String> obstacle, List<DeviceModel> devices, Findings findings) {
    if (obstacle.isPresent()) {
      if (driver) {
        findings.warning(remedy(obstacle.get()), "no GPU is used: %s", obstacle.get());
      } else {
        findings.note("", "no GPU is used: %s", obstacle.get());
      }
      return;
    }
    for (int d = 0; d < devices.size(); d++) {
      DeviceModel m = devices.get(d);
      findings.ok(
          "device %d: %s, assumed %s/s, %s/s",
          d,
          SymbolicSummary.bytesText(m.memoryBytes()),
          SymbolicSummary.flopsText(m.flopsPerSecond()),
          SymbolicSummary.bytesText(m.bytesPerSecond()));
    }
  }

  private static String remedy(String obstacle) {
    if (obstacle.contains("no CUDA kernels")) {
      return "build again with nvcc in PATH, or ./mvnw package -Dcuda.nvrtc=true";
    }
    if (obstacle.contains("too old")) {
      return "update the driver to 580 or later";
    }
    if (obstacle.contains("visible")) {
      return "set CUDA_VISIBLE_DEVICES, or give the container a device (--gpus all)";
    }
    return "nvidia-smi on this machine says whether the driver works";
  }
}
