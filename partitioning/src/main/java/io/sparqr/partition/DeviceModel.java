/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;

/**
 * The model of a GPU for cutting the tree. Work of intensity I (flops / bytes of the fronts) runs
 * at
 *
 * <pre>
 *   1 / (1 / flopsPerSecond + 1 / (I bytesPerSecond))
 * </pre>
 *
 * flops per second: slow on many small fronts, fast on a few large ones.
 *
 * @param flopsPerSecond useful flops on large fronts
 * @param bytesPerSecond bytes of fronts planned, sent, kept and fetched per second
 * @param memoryBytes device memory
 */
public record DeviceModel(double flopsPerSecond, double bytesPerSecond, long memoryBytes)
    implements Serializable {

  /**
   * Useful flops on large sparse problems as a share of the FP64 peak without tensor cores: those
   * double it on the chips that this was measured on.
   */
  public static final double PEAK_SHARE = 0.6;

  private static final double REFERENCE_BYTES_PER_SECOND = 8e10;

  /** Checks the rates. */
  public DeviceModel {
    if (!(flopsPerSecond > 0) || !(bytesPerSecond > 0) || memoryBytes <= 0) {
      throw new IllegalArgumentException("a device needs positive rates and memory");
    }
  }

  /**
   * The device assumed if none can be queried: an H200. With 0.2 us per front and 10 ms per task (a
   * level's cost) the model was within 10% of nine problems of 56 to 19070 Gflop on an H100, by
   * {@code DeviceForecast} of the benchmarks, which prints both.
   */
  public static DeviceModel reference() {
    return ofPeak(33.5e12, 140L << 30);
  }

  /** The model of a device from its FP64 peak without tensor cores, in flops per second. */
  public static DeviceModel ofPeak(double peak, long memoryBytes) {
    return new DeviceModel(PEAK_SHARE * peak, REFERENCE_BYTES_PER_SECOND, memoryBytes);
  }

  /** The share of each worker if several take turns on the device. */
  public DeviceModel sharedBy(int workers) {
    return new DeviceModel(flopsPerSecond / workers, bytesPerSecond / workers, memoryBytes);
  }
}
