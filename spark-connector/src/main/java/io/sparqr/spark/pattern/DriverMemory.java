/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.configuration.Keys;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.TaskHeap;
import java.util.Locale;

/**
 * The memory for pattern, analysis and plan on the driver, and a check that it is available, made
 * once their sizes are known and before they are collected. Bytes:
 *
 * <table>
 *   <caption>The parts counted</caption>
 *   <tr><td>the pattern</td><td>16 per distinct row, 4 per entry; 42 and 4 more and its frames during merging</td></tr>
 *   <tr><td>column norms</td><td>8 per column</td></tr>
 *   <tr><td>ordering by minimum degree, then elimination tree, counts and fronts</td><td>{@value #COLUMN} per column, {@value #PATTERN} per distinct row, {@value #ENTRY} per entry, {@value #EDGE} per edge of the graph of A'A that may be written out</td></tr>
 *   <tr><td>then, in its place, the plan: order 4, scale 8, rows 1 per column; tree, sizes and tasks 24 per front (at most as many fronts as columns); the broadcast, up to 20 per column</td>
 *     <td>{@value #PLAN} per column</td></tr>
 * </table>
 *
 * <p>The larger of the last two enters the sum. Not counted are the fronts' column lists (4 per
 * entry), whose size is unknown before the analysis, and searches for orders other than minimum
 * degree. Calibrated by the least heap (G1) in which panels, grids, one-hot designs and random
 * matrices can be analyzed, which is 0.6 to 0.95 of this.
 *
 * <p>No {@link io.sparqr.jvm.ByteBudget}: most of what fills a driver's heap is not ours, so that
 * only a look at the heap tells what is free.
 */
final class DriverMemory {

  /** Bytes of the analysis per column. */
  static final long COLUMN = 120;

  /** Bytes of the analysis per distinct row. */
  static final long PATTERN = 8;

  /** Bytes of the analysis per entry of the distinct rows. */
  static final long ENTRY = 8;

  /**
   * Bytes of the analysis per edge: while their array grows, there is room for three times as many.
   */
  static final long EDGE = 12;

  /** Bytes of the plan per column, including the cut of the tree. */
  static final long PLAN = 120;

  /** The fraction of the heap available to arrays of this size. */
  private static final double USABLE = 0.9;

  /**
   * Minimum and maximum number of edges that minimum degree writes out, and the number per entry.
   */
  private static final long LEAST_EDGES = 1L << 24;

  private static final long MOST_EDGES = 1L << 28;
  private static final long EDGES_PER_ENTRY = 20;

  private DriverMemory() {}

  /**
   * Sizes of a pattern, known before the driver allocates anything for it.
   *
   * @param columns n
   * @param patterns distinct rows, including the ridge's
   * @param entries of the distinct rows
   * @param squares sum of the distinct rows' squared lengths
   * @param frames bytes of the frames that carry them
   */
  record Sizes(long columns, long patterns, long entries, double squares, long frames) {

    /** Bytes needed on the driver. */
    long need() {
      double edges = Math.min(squares - entries, (double) columns * columns);
      long budget = Math.min(MOST_EDGES, Math.max(LEAST_EDGES, EDGES_PER_ENTRY * entries));
      long written = (long) Math.min(edges, budget);
      long pattern = 16 * patterns + 4 * entries + 8 * columns;
      long analysis = COLUMN * columns + PATTERN * patterns + ENTRY * entries + EDGE * written;
      long merging = frames + 42 * patterns + 4 * entries;
      return pattern + Math.max(merging, Math.max(analysis, PLAN * columns));
    }
  }

  /**
   * Checks that the memory is available.
   *
   * @param spare drops what can be done without; run if the memory is not free
   * @throws InsufficientMemoryException if it is not, with the need, the memory available and the
   *     key to set
   */
  static void require(Engine engine, Sizes sizes, Runnable spare) {
    long need = sizes.need();
    long have = Keys.PATTERN_MEMORY.find(engine::setting).orElseGet(() -> free(need, spare));
    if (need > have) {
      throw new InsufficientMemoryException(
          String.format(
              Locale.ROOT,
              "the pattern (%,d columns, %,d distinct rows, %,d entries) needs about %,.1f MB on the"
                  + " driver, %,.1f MB are free: raise spark.driver.memory",
              sizes.columns,
              sizes.patterns,
              sizes.entries,
              need / 1e6,
              have / 1e6),
          need,
          have);
    }
  }

  private static long free(long need, Runnable spare) {
    long free = now();
    if (need > free) {
      spare.run();
      // Used memory may be garbage, or a local master's blocks that can be moved to disk.
      TaskHeap.evict(need - free);
      System.gc();
      free = now();
    }
    return free;
  }

  private static long now() {
    Runtime r = Runtime.getRuntime();
    long used = r.totalMemory() - r.freeMemory();
    return Math.max(0, (long) (USABLE * r.maxMemory()) - used);
  }
}
