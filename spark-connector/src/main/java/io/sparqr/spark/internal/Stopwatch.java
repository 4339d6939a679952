/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

/** Wall time between calls. */
final class Stopwatch {

  private final long begin = System.nanoTime();
  private long last = begin;

  /** Seconds since the last call. */
  double lap() {
    long now = System.nanoTime();
    double seconds = (now - last) * 1e-9;
    last = now;
    return seconds;
  }

  /** Seconds since the beginning. */
  double total() {
    return (System.nanoTime() - begin) * 1e-9;
  }
}
