/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;

/**
 * A GPU as the cut of the tree sees it. Work of intensity I (flops / bytes of the fronts) goes at
 *
 * <pre>
 *   1 / (1 / flopsPerSecond + 1 / (I bytesPerSecond))
 * </pre>
 *
 * flops a second: slow on many small fronts, fast on a few large ones.
 *
 * @param flopsPerSecond useful flops on large fronts
 * @param bytesPerSecond fronts' bytes planned, sent, held and fetched a second
 * @param memoryBytes device memory
 */
public record DeviceModel(double flopsPerSecond, double bytesPerSecond, long memoryBytes)
    implements Serializable {

  /** Share of the FP64 peak without tensor cores that is useful flops on large sparse problems. */
  public static final double PEAK_SHARE = 0.3;

  private static final double REFERENCE_BYTES_PER_SECOND = 6e10;

  /** Checks the rates. */
  public DeviceModel {
    if (!(flopsPerSecond > 0) || !(bytesPerSecond > 0) || memoryBytes <= 0) {
      throw new IllegalArgumentException("a device needs positive rates and memory");
    }
  }

  /**
   * What is assumed of a device that nobody could ask: an H200. With 1 us a front and 10 ms a task
   * (which a level's cost covers) this is what it took for problems of 0.5 to 150 Gflop, to a
   * factor of 1.6 (benchmarks/RESULTS.md).
   */
  public static DeviceModel reference() {
    return ofPeak(33.5e12, 140L << 30);
  }

  /** By a device's FP64 peak without tensor cores, in flops a second. */
  public static DeviceModel ofPeak(double peak, long memoryBytes) {
    return new DeviceModel(PEAK_SHARE * peak, REFERENCE_BYTES_PER_SECOND, memoryBytes);
  }

  /** What each of so many workers has of it that take turns. */
  public DeviceModel sharedBy(int workers) {
    return new DeviceModel(flopsPerSecond / workers, bytesPerSecond / workers, memoryBytes);
  }
}
