/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;

/**
 * What fronts cost: seconds on a worker = flops / rate + bytes of the assembled fronts / byte rate
 * + a fixed cost a front. The last two are what small fronts spend their time on.
 */
final class TreeCost {

  /** Bytes of an entry of a row: position and value. */
  private static final long ENTRY_BYTES = 12;

  /** Seconds a front costs whatever its size: calls, maps, scheduling. */
  private static final double FRONT_SECONDS = 1e-6;

  final int fronts;
  final int[] parent;
  final double[] flops;
  final long[] frontBytes;

  /** Bytes of each front's contribution block. */
  final long[] blockBytes;

  private final boolean host;

  /** Bytes of an upper triangle of each front's columns as rows: an index beside each value. */
  private final long[] mergedBytes;

  /** Bytes that each front needs while it is factored, besides what goes into it. */
  final long[] workBytes;

  /** Bytes of each front that are there still when its block and its rows of R are packed. */
  private final long[] packedBytes;

  /** Bytes of each front's rows of A, as a task holds them from its start to its end. */
  final long[] rowBytes;

  /** Bytes of each front's rows of R, as a task holds them from then to its end. */
  final long[] resultBytes;

  /** Costs of an analysis with right-hand sides carried along, on CPUs. O(n). */
  TreeCost(SymbolicAnalysis analysis, int rhs) {
    this(analysis, rhs, true, 0);
  }

  /**
   * The same.
   *
   * @param host whether the memory is the host's, which rows and R fill too; else a device's
   * @param parts partitions in which rows are combined; 0: they are not
   */
  TreeCost(SymbolicAnalysis analysis, int rhs, boolean host, int parts) {
    this.host = host;
    fronts = analysis.fronts();
    parent = new int[fronts];
    flops = new double[fronts];
    frontBytes = new long[fronts];
    blockBytes = new long[fronts];
    mergedBytes = new long[fronts];
    workBytes = new long[fronts];
    packedBytes = new long[fronts];
    rowBytes = new long[fronts];
    resultBytes = new long[fronts];
    double perRow = bytesOfRow(analysis, rhs);
    for (int f = 0; f < fronts; f++) {
      parent[f] = analysis.parent(f);
      flops[f] = analysis.frontFlops(f);
      frontBytes[f] = FrontMemory.frontBytes(analysis, f, rhs);
      blockBytes[f] = FrontMemory.contributionBytes(analysis, f, rhs);
      long fm = analysis.fm(f);
      long r = Math.min(analysis.fp(f), fm);
      rowBytes[f] = (long) (perRow * rows(analysis, f));
      if (parts > 0) {
        // Fewer than two triangles are left as they are.
        long most = FrontMemory.multiply(2L * parts, triangle(analysis.fn(f), rhs));
        rowBytes[f] = Math.min(rowBytes[f], most);
      }
      resultBytes[f] = FrontMemory.contributionBytes(r, analysis.fn(f), rhs);
      if (host) {
        long merged = Math.min(fm, analysis.fn(f));
        mergedBytes[f] = asRows(merged, analysis.fn(f), rhs);
        workBytes[f] = FrontMemory.hostBytes(fm, analysis.fn(f), rhs);
        packedBytes[f] = FrontMemory.packedBytes(analysis, f, rhs);
      } else {
        workBytes[f] = frontBytes[f];
      }
    }
  }

  /**
   * Bytes of what a task sends for a front at most: a triangle of its columns, as rows. On a
   * device's way blocks may go as they are.
   */
  long reducedBytes(int f) {
    return host ? mergedBytes[f] : Long.MAX_VALUE;
  }

  /**
   * Bytes of a front's rows of A, twice while they are decoded, and of R, where they are in the
   * memory that fronts are in.
   */
  long keptBytes(int f) {
    return !host ? 0 : FrontMemory.add(FrontMemory.multiply(2, rowBytes[f]), resultBytes[f]);
  }

  private static long triangle(long fn, long rhs) {
    return asRows(fn, fn, rhs);
  }

  /** Bytes of an upper trapezoid as rows. */
  private static long asRows(long rows, long fn, long rhs) {
    return FrontMemory.contributionBytes(rows, fn, rhs) / 8 * ENTRY_BYTES + 16 * rows;
  }

  /** Rows of A of a front. */
  private static long rows(SymbolicAnalysis analysis, int f) {
    long rows = 0;
    for (int p = analysis.firstPivot(f); p < analysis.firstPivot(f + 1); p++) {
      rows += analysis.leftmostCount(p);
    }
    return rows;
  }

  /** Bytes of a row of average length: its entries, right-hand sides, place and number. */
  private static double bytesOfRow(SymbolicAnalysis analysis, int rhs) {
    double rows = Math.max(1, analysis.rows() - analysis.emptyRows() - analysis.singletons());
    double entries = analysis.nonzeros() - analysis.singletonEntries();
    return ENTRY_BYTES * entries / rows + 8 * rhs + 16;
  }

  /** Seconds of some fronts together on a worker. */
  static double seconds(double flops, double bytes, double fronts, ResourceModel.Worker worker) {
    return flops / worker.flopsPerSecond()
        + bytes / worker.bytesPerSecond()
        + fronts * FRONT_SECONDS;
  }

  /** Seconds of one front on a worker. */
  double seconds(int f, ResourceModel.Worker worker) {
    return seconds(flops[f], frontBytes[f], 1, worker);
  }

  /**
   * Most bytes alive while a task works through its fronts in order: all rows as they came and
   * decoded, beside the inputs; then rows, inputs and a front beside its children's blocks, which
   * go when it is assembled; R and outputs stay. On a device fronts and blocks alone.
   *
   * @param task fronts, ascending
   * @param owner task of every front; {@code id} for this one
   */
  long peakBytes(int[] task, int[] owner, int id, long inputBytes) {
    long rows = host ? sum(rowBytes, task) : 0;
    long live = FrontMemory.add(rows, inputBytes);
    long peak = FrontMemory.add(live, rows);
    long[] childBytes = new long[task.length];
    for (int k = 0; k < task.length; k++) {
      int f = task[k];
      peak = Math.max(peak, FrontMemory.add(live, workBytes[f]));
      long left = FrontMemory.add(blockBytes[f], host ? resultBytes[f] : 0);
      live = FrontMemory.add(live - childBytes[k], left);
      peak = Math.max(peak, FrontMemory.add(live, packedBytes[f]));
      int p = parent[f];
      if (p >= 0 && owner[p] == id) {
        int at = java.util.Arrays.binarySearch(task, k + 1, task.length, p);
        childBytes[at] = FrontMemory.add(childBytes[at], blockBytes[f]);
      }
    }
    return peak;
  }

  /** Whether the memory that fronts are in is the host's. */
  boolean host() {
    return host;
  }

  /**
   * Most heap of a task whose fronts are on a device: rows as they came and decoded beside the
   * blocks that came, then rows, those blocks, R and the blocks that go.
   */
  long aroundDeviceBytes(int[] task, int[] outputs, int[] inputs) {
    long rows = sum(rowBytes, task);
    long left = FrontMemory.add(sum(resultBytes, task), sum(blockBytes, outputs));
    long beside = FrontMemory.add(rows, sum(blockBytes, inputs));
    return FrontMemory.add(beside, Math.max(rows, left));
  }

  private static long sum(long[] bytes, int[] fronts) {
    long sum = 0;
    for (int f : fronts) {
      sum = FrontMemory.add(sum, bytes[f]);
    }
    return sum;
  }
}
