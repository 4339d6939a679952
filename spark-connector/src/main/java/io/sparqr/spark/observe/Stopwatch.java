/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

/** Wall time between calls. */
public final class Stopwatch {

  private final long begin = System.nanoTime();
  private long last = begin;

  /** Seconds since the last call. */
  public double lap() {
    long now = System.nanoTime();
    double seconds = (now - last) * 1e-9;
    last = now;
    return seconds;
  }

  /** Seconds since the beginning. */
  public double total() {
    return (System.nanoTime() - begin) * 1e-9;
  }
}
