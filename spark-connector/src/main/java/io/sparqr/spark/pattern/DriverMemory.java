/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.configuration.Keys;
import io.sparqr.error.InsufficientMemoryException;
import org.apache.spark.api.java.JavaSparkContext;

/** Whether the pattern and its analysis fit the driver, asked before they are collected. */
final class DriverMemory {

  private DriverMemory() {}

  /**
   * Estimates what collecting and analyzing takes.
   *
   * @throws InsufficientMemoryException if that is more than there is
   */
  static void require(JavaSparkContext context, int columns, long patterns, long entries, long payload) {
    // frames, decoded and final arrays of the pattern; trees, counts and the ordering's graph
    long need = 64 * patterns + 20 * entries + 160L * columns;
    var conf = context.getConf();
    long have = Keys.PATTERN_MEMORY.find(key -> conf.get(key, null)).orElseGet(() -> free(need));
    if (need > have) {
      throw new InsufficientMemoryException(
          String.format(
              java.util.Locale.ROOT,
              "the pattern (%,d columns, %,d distinct rows, %,d entries) needs about %,d MB on the"
                  + " driver, %,d MB are free: raise spark.driver.memory",
              columns,
              patterns,
              entries,
              need >> 20,
              have >> 20),
          need,
          have);
    }
  }

  private static long free(long need) {
    Runtime r = Runtime.getRuntime();
    long free = r.maxMemory() - r.totalMemory() + r.freeMemory();
    if (need > free) {
      // what looks used may be garbage
      System.gc();
      free = r.maxMemory() - r.totalMemory() + r.freeMemory();
    }
    return free;
  }
}
