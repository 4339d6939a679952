/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import io.sparqr.error.DiskFullException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.internals.SparkCluster;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.slf4j.LoggerFactory;

/**
 * The bytes that the current phase writes to the executors' disks, for the message if one is full.
 * A figure, not a budget: nothing is taken of it.
 */
final class DiskNeed {

  /** Bytes of an entry: index and value. */
  private static final long ENTRY = Integer.BYTES + Double.BYTES;

  private static final long PATIENCE_MILLIS = 2000;

  /**
   * R and blocks may take this fraction of a heap from which they cannot be spilled, as 1 / share.
   */
  private static final long HEAP_SHARE = 2;

  private final Engine engine;
  private String what = "";
  private long bytes = -1;

  DiskNeed(Engine engine) {
    this.engine = engine;
  }

  /** The rows on their way to the tasks of their fronts, if none are combined. */
  void rows(PatternPass.Result found) {
    what = "the rows on their way to their tasks";
    bytes = ofRows(found);
  }

  /** Bytes of the rows on their way, if none are combined. */
  static long ofRows(PatternPass.Result found) {
    return ENTRY * found.nonzeros()
        + (long) Double.BYTES * found.rows() * (1 + found.rhs().count());
  }

  /** R, if none of it fits in memory, and the contribution blocks of the tasks' roots. */
  void factor(SolvePlan plan) {
    SymbolicAnalysis a = plan.analysis();
    what = "R and the contribution blocks between tasks";
    long entries = a.singletonEntries();
    for (int f = 0; f < a.fronts(); f++) {
      entries += trapezoid(a.fp(f), a.fn(f) + (long) plan.numbers().rhsCount());
    }
    for (SubtreeTask task : plan.partition().tasks()) {
      for (int f : task.outputs()) {
        entries += trapezoid(a.cm(f), a.cn(f) + (long) plan.numbers().rhsCount());
      }
    }
    bytes = Double.BYTES * entries;
  }

  /**
   * Rejects a problem that would fill the heap without Spark, which could spill R to disk.
   *
   * @param heap that has to hold it, in bytes ({@link io.sparqr.spark.parts.Parts#heap})
   * @throws InsufficientMemoryException with a way out in its message
   */
  void requireHeap(long heap) {
    if (bytes > heap / HEAP_SHARE) {
      throw new InsufficientMemoryException(
          text(
              "%s take %,d MB, more than half of the heap of %,d MB, and without Spark they stay in"
                  + " it: Spark writes to disk what does not fit",
              what, bytes >> 20, heap >> 20),
          bytes,
          heap / HEAP_SHARE);
    }
  }

  /** Entries of an upper trapezoid, rows at most columns. */
  private static long trapezoid(long rows, long columns) {
    return rows * columns - rows * (rows - 1) / 2;
  }

  /** The error with the bytes needed. */
  DiskFullException in(DiskFullException e) {
    if (bytes >= 0) {
      return e.needing(text("%s take up to %,d bytes", what, bytes), bytes);
    }
    long written = written();
    return e.needing(
        text("the rows' patterns take more than the %,d bytes that were written", written),
        written);
  }

  /** Bytes written by the tasks of the last failed stage, including the failed tasks. */
  private long written() {
    SparkContext context = engine.context().sc();
    try {
      SparkCluster.awaitStatus(context, PATIENCE_MILLIS);
    } catch (TimeoutException e) {
      LoggerFactory.getLogger("io.sparqr").debug("bytes written may be more than is said", e);
    }
    return SparkCluster.bytesWrittenByFailedStage(context);
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
