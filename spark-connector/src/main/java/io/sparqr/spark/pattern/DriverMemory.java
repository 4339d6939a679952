/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.configuration.Keys;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.resource.TaskHeap;
import java.util.Locale;

/**
 * What pattern, analysis and plan take on the driver, and whether it is there: asked when their
 * sizes are known and before they are collected. Bytes:
 *
 * <table>
 *   <caption>What is counted</caption>
 *   <tr><td>the pattern</td><td>16 a distinct row, 4 an entry; as much again and its frames while they are merged</td></tr>
 *   <tr><td>column norms</td><td>8 a column</td></tr>
 *   <tr><td>ordering by minimum degree, then elimination tree, counts and fronts</td><td>{@value
 *     #COLUMN} a column, {@value #PATTERN} a distinct row, {@value #ENTRY} an entry, {@value #EDGE}
 *     an edge of the graph of A'A that may be written out</td></tr>
 *   <tr><td>then, in its place, the plan: order 4, scale 8, rows 1 a column; tree, sizes and tasks 24
 *     a front, of which there are at most as many as columns; what is broadcast, up to 20 a column</td>
 *     <td>{@value #PLAN} a column</td></tr>
 * </table>
 *
 * <p>The larger of the last two counts. The fronts' column lists (4 an entry) are known to the
 * analysis alone, and no search for other orders than minimum degree's is counted. Found with the
 * least heap (G1) that panels, grids, one-hot designs and random matrices are analyzed in, which is
 * 0.6 to 0.95 of this.
 */
final class DriverMemory {

  /** Bytes of the analysis a column. */
  static final long COLUMN = 120;

  /** And a distinct row. */
  static final long PATTERN = 8;

  /** And an entry of the distinct rows. */
  static final long ENTRY = 8;

  /** And an edge: while their array grows, there are three times as many as there are. */
  static final long EDGE = 12;

  /** Bytes of the plan a column, what the cut of the tree takes included. */
  static final long PLAN = 120;

  /** The part of the heap that arrays of this size find room in. */
  private static final double USABLE = 0.9;

  /** Edges that minimum degree writes out at least and at most, and for each entry. */
  private static final long LEAST_EDGES = 1L << 24;

  private static final long MOST_EDGES = 1L << 28;
  private static final long EDGES_PER_ENTRY = 20;

  private DriverMemory() {}

  /**
   * Sizes of a pattern, none of them of the driver's making.
   *
   * @param columns n
   * @param patterns distinct rows, the ridge's too
   * @param entries of the distinct rows
   * @param squares sum of the distinct rows' squared lengths
   * @param frames bytes of the frames in which they come
   */
  record Sizes(long columns, long patterns, long entries, double squares, long frames) {

    /** Bytes on the driver. */
    long need() {
      double edges = Math.min(squares - entries, (double) columns * columns);
      long budget = Math.min(MOST_EDGES, Math.max(LEAST_EDGES, EDGES_PER_ENTRY * entries));
      long written = (long) Math.min(edges, budget);
      long pattern = 16 * patterns + 4 * entries + 8 * columns;
      long analysis = COLUMN * columns + PATTERN * patterns + ENTRY * entries + EDGE * written;
      long merging = frames + 16 * patterns + 4 * entries;
      return pattern + Math.max(merging, Math.max(analysis, PLAN * columns));
    }
  }

  /**
   * Asks whether there is enough.
   *
   * @throws InsufficientMemoryException if there is not: need, what there is, and which key to set
   */
  static void require(Engine engine, Sizes sizes) {
    long need = sizes.need();
    long have = Keys.PATTERN_MEMORY.find(engine::setting).orElseGet(() -> free(need));
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

  private static long free(long need) {
    long free = now();
    if (need > free) {
      // what looks used may be garbage, or a local master's blocks that may go to disk
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
