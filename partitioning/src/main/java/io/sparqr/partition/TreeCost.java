/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.GramWork;
import io.sparqr.symbolic.SymbolicAnalysis;

/**
 * The cost of fronts, with their rows of A as they arrive, combined where that happens: seconds on
 * a worker = flops / rate + bytes of the assembled fronts / byte rate + a fixed cost per front. The
 * last two dominate for small fronts.
 */
final class TreeCost {

  /** Bytes of an entry of a row: position and value. */
  private static final long ENTRY_BYTES = 12;

  /** Fixed seconds per front on a CPU: calls, maps, scheduling. */
  private static final double FRONT_SECONDS = 1e-6;

  /** The same on a device, where they are the making of its lists. */
  private static final double DEVICE_FRONT_SECONDS = 2e-7;

  final int fronts;
  final int[] parent;
  final double[] flops;

  /** Flops of each front if its rows of A were not combined. */
  final double[] analyzedFlops;

  final long[] frontBytes;

  /** Flops of all reductions of rows before they reach their tasks. */
  final double combineFlops;

  /** Bytes of each front's contribution block. */
  final long[] blockBytes;

  private final boolean host;

  /**
   * Bytes of an upper triangle in each front's columns, stored as rows with an index beside each
   * value.
   */
  private final long[] mergedBytes;

  /** Bytes needed to factor each front, without its inputs. */
  final long[] workBytes;

  /** Bytes of each front still held while its block and its rows of R are packed. */
  private final long[] packedBytes;

  /** Whether a front is below the root of a tree that only its Gram matrix fits. */
  private final boolean[] inTree;

  /** Bytes of each front's rows of A, held by a task from start to end. */
  final long[] rowBytes;

  /** Bytes of the heap for each front's pivot rows, held from their creation to the task's end. */
  final long[] resultBytes;

  /** Costs of an analysis with right-hand sides carried along, on CPUs. O(n). */
  TreeCost(SymbolicAnalysis analysis, int rhs) {
    this(analysis, rhs, true, 0);
  }

  /**
   * Costs in a given memory.
   *
   * @param host whether it is the host's, which rows and Q'b occupy too; else a device's
   * @param parts partitions in which rows are combined; 0: not combined
   */
  TreeCost(SymbolicAnalysis analysis, int rhs, boolean host, int parts) {
    this.host = host;
    fronts = analysis.fronts();
    parent = new int[fronts];
    flops = new double[fronts];
    analyzedFlops = new double[fronts];
    frontBytes = new long[fronts];
    blockBytes = new long[fronts];
    mergedBytes = new long[fronts];
    workBytes = new long[fronts];
    packedBytes = new long[fronts];
    rowBytes = new long[fronts];
    inTree = new boolean[fronts];
    boolean[] onlyGram = new boolean[fronts];
    resultBytes = new long[fronts];
    double perRow = bytesOfRow(analysis, rhs);
    double entries = entriesOfRow(analysis);
    double combined = 0;
    for (int f = 0; f < fronts; f++) {
      parent[f] = analysis.parent(f);
      analyzedFlops[f] = host ? analysis.frontFlops(f) : analysis.reflectorFlops(f);
      flops[f] = analyzedFlops[f];
      frontBytes[f] = FrontMemory.frontBytes(analysis, f, rhs);
      blockBytes[f] = FrontMemory.contributionBytes(analysis, f, rhs);
      long fm = analysis.fm(f);
      long own = rows(analysis, f);
      rowBytes[f] = (long) (perRow * own);
      if (host
          && parts > 0
          && !analysis.isGram(f)
          && CombinedRows.happens(own, analysis.fn(f), entries, parts)) {
        CombinedRows rows = CombinedRows.of(analysis, f, parts);
        combined += rows.flops();
        flops[f] = rows.frontFlops();
        frontBytes[f] = FrontMemory.frontBytes(rows.frontRows(), analysis.fn(f), rhs);
      }
      if (parts > 0) {
        // Each partition leaves up to two triangles' worth of rows uncombined.
        long most = FrontMemory.multiply(2L * parts, triangle(analysis.fn(f), rhs));
        rowBytes[f] = Math.min(rowBytes[f], most);
      }
      resultBytes[f] = FrontMemory.resultBytes(analysis, f, rhs);
      if (host) {
        long merged = Math.min(fm, analysis.fn(f));
        mergedBytes[f] = asRows(merged, analysis.fn(f), rhs);
        long reflectors = FrontMemory.hostBytes(fm, analysis.fn(f), rhs);
        // Where reflectors would not fit beside all else, they are not what a task is planned for.
        boolean only = analysis.isGram(f) && reflectors > analysis.data().counts().gramBytes();
        long triangle = (long) (Double.BYTES * GramWork.triangle(analysis.fn(f) + (double) rhs));
        onlyGram[f] = only && analysis.gramBytes(f) > 0;
        workBytes[f] = only ? analysis.gramBytes(f) : Math.max(reflectors, analysis.gramBytes(f));
        packedBytes[f] = only ? triangle : FrontMemory.packedBytes(analysis, f, rhs);
      } else {
        workBytes[f] = frontBytes[f];
      }
    }
    combineFlops = combined;
    for (int f = fronts - 1; f >= 0; f--) {
      boolean member = host && analysis.isGram(f) && analysis.gramBytes(f) == 0;
      inTree[f] = member && parent[f] >= 0 && onlyGram[parent[f]];
      onlyGram[f] |= inTree[f];
    }
  }

  /**
   * The most bytes that a task sends for a front: a triangle of its columns, as rows. Tasks of a
   * device may send blocks unreduced.
   */
  long reducedBytes(int f) {
    return host ? mergedBytes[f] : Long.MAX_VALUE;
  }

  /**
   * Bytes of a front's rows of A, encoded and decoded, and of its pivot rows, if these share the
   * memory of the fronts.
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
    return ENTRY_BYTES * entriesOfRow(analysis) + 8 * rhs + 16;
  }

  private static double entriesOfRow(SymbolicAnalysis analysis) {
    double rows = Math.max(1, analysis.rows() - analysis.emptyRows() - analysis.singletons());
    return (analysis.nonzeros() - analysis.singletonEntries()) / rows;
  }

  /** Total seconds of several fronts on a worker. */
  static double seconds(double flops, double bytes, double fronts, ResourceModel.Worker worker) {
    return flops / worker.flopsPerSecond()
        + bytes / worker.bytesPerSecond()
        + fronts * (worker.device() ? DEVICE_FRONT_SECONDS : FRONT_SECONDS);
  }

  /** Seconds of one front on a worker. */
  double seconds(int f, ResourceModel.Worker worker) {
    return seconds(flops[f], frontBytes[f], 1, worker);
  }

  /**
   * Peak bytes while a task factors its fronts in order: first all rows, encoded and decoded,
   * beside the inputs; then rows, inputs and a front beside its children's blocks, which are freed
   * when it is assembled; Q'b and outputs stay. A front below the root of a tree that only its Gram
   * matrix fits is taken with that root: what other children left waits until then, and what it
   * leaves itself is among the root's own bytes. On a device only fronts and blocks.
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
      int p = parent[f];
      boolean here = p >= 0 && owner[p] == id;
      boolean later = here && inTree[f];
      long kept = host ? resultBytes[f] : 0;
      if (later) {
        live = FrontMemory.add(live, kept);
      } else {
        peak = Math.max(peak, FrontMemory.add(live, workBytes[f]));
        live = FrontMemory.add(live - childBytes[k], FrontMemory.add(blockBytes[f], kept));
        peak = Math.max(peak, FrontMemory.add(live, packedBytes[f]));
      }
      if (here) {
        int at = java.util.Arrays.binarySearch(task, k + 1, task.length, p);
        childBytes[at] = FrontMemory.add(childBytes[at], later ? childBytes[k] : blockBytes[f]);
      }
    }
    return peak;
  }

  /** Whether fronts are in the host's memory. */
  boolean host() {
    return host;
  }

  /**
   * Peak heap of a task whose fronts are on a device: rows, encoded and decoded, beside the input
   * blocks; then rows, input blocks, Q'b and output blocks.
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
