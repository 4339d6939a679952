/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaDriver;
import jcuda.driver.CUdevice_attribute;

/**
 * The arithmetic intensity above which a device is faster than the CPU. The device takes bytes / B
 * + flops / D seconds (B: plan, transfers and memory, all in proportion to the fronts' bytes), the
 * CPU flops / C, so the device wins above (C / B) / (1 - C / D) flops per byte. C / B is the
 * break-even measured on an H200 with 16 CPU cores (benchmarks/RESULTS.md); D is a share of the
 * FP64 peak that the device reports, so that a chip with few FP64 units is used less often.
 */
final class Crossover {

  /** C / B, flops per byte. */
  static final double REFERENCE = 5;

  /** The CPU backend does these within 0.1 s; opening a device takes longer. */
  static final double FLOPS = 1e9;

  /**
   * The same for a device that stays open: a task on it takes 1 to 2 ms whatever it does, and in
   * these the CPU backend does so many. Also in benchmarks/papers/choice_regret.py.
   */
  static final double OPEN_FLOPS = 1e7;

  /** C: 16 cores, flops per second. */
  private static final double CPU_RATE = 7e10;

  /** D as a share of the peak without tensor cores, which most chips do not have for FP64. */
  private static final double DEVICE_SHARE = 0.3;

  private Crossover() {}

  /** FP64 peak of a device without tensor cores, flops per second. */
  static double peak(CudaDriver driver, int device) {
    int major =
        get(driver, device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor =
        get(driver, device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    int sms = get(driver, device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    int kilohertz = get(driver, device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    int ratio =
        get(
            driver,
            device,
            CUdevice_attribute.CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
    int lanes = 10 * major + minor == 80 ? 64 : 128;
    return 2e3 * lanes * sms * kilohertz / Math.max(1, ratio);
  }

  /**
   * The break-even intensity for an FP64 peak in flops per second; infinite for a device slower
   * than the CPU.
   */
  static double intensity(double peak) {
    double rest = 1 - CPU_RATE / (DEVICE_SHARE * peak);
    return rest > 0 ? REFERENCE / rest : Double.POSITIVE_INFINITY;
  }

  private static int get(CudaDriver driver, int device, int attribute) {
    return CudaDevice.attribute(driver, device, attribute);
  }
}
