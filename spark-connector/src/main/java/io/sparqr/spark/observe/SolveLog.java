/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.cluster.ExecutorWait;
import io.sparqr.spark.engine.Foreground;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One INFO line per phase, at its end, in the driver's log, for a look at it later. The logger is
 * {@code io.sparqr} for all classes.
 */
public final class SolveLog {

  private static final Logger LOG = LoggerFactory.getLogger("io.sparqr");

  private SolveLog() {}

  /** What the pass for patterns has found. */
  public static void pattern(PatternPass.Result found, double seconds) {
    say(
        "pattern: %,d rows x %,d columns, %,d nonzeros, %d right-hand side%s, %s%s; %.3f s",
        found.rows(),
        found.columns(),
        found.nonzeros(),
        found.rhs().count(),
        found.rhs().count() == 1 ? "" : "s",
        found.patterns().print().isPresent()
            ? "the pattern of the given analysis"
            : "%,d distinct row patterns".formatted(found.patterns().count()),
        found
            .patterns()
            .graph()
            .map(
                g -> " (a graph of A'A of %,d rows in their place)".formatted(g.graph().patterns()))
            .orElse(""),
        seconds);
  }

  public static void ordering(SymbolicAnalysis a, double order, double analyze) {
    say(
        "ordering: %s (%s), %,d fronts, %s; ordering %.3f s, analysis %.3f s",
        a.orderingUsed(), a.orderingReason(), a.fronts(), work(a.flops()), order, analyze);
  }

  /** Logs into how many tasks the tree is cut, and for how many workers. */
  public static void cut(TreePartition cut, int workers, String why, double seconds) {
    say(
        "cut: %d task%s in %d level%s for %d worker%s, predicted %s, %.3f s, at most %s a task;"
            + " %.3f s%s",
        cut.tasks().size(),
        cut.tasks().size() == 1 ? "" : "s",
        cut.levels(),
        cut.levels() == 1 ? "" : "s",
        workers,
        workers == 1 ? "" : "s",
        work(cut.tasks().stream().mapToDouble(SubtreeTask::flops).sum()),
        cut.estimatedSeconds(),
        megabytes(cut.tasks().stream().mapToLong(SubtreeTask::peakBytes).max().orElse(0)),
        seconds,
        why.isEmpty() ? "" : "; " + why);
  }

  /** Logs the wait for executors, if there was one. */
  public static void executors(ExecutorWait.Outcome waited) {
    if (waited.seconds() > 0) {
      say(
          "executors: %d there, %d wanted; waited %.3f s",
          waited.executors(), waited.wanted(), waited.seconds());
    }
  }

  public static void rows(double seconds) {
    say("rows: to the tasks of their fronts; %.3f s", seconds);
  }

  /** What the factorization has done. */
  public static void factorize(FactorSummary summary, double foretold, double seconds) {
    say(
        "factorize: %s by %s, at most %s a task; %.3f s, predicted %.3f s",
        work(summary.flopsDone()),
        summary.backend(),
        megabytes(summary.peakHostBytes()),
        seconds,
        foretold);
  }

  public static void solve(int steps, double seconds) {
    say(
        "solve: back substitution%s; %.3f s",
        steps == 0 ? "" : ", %d step%s of refinement".formatted(steps, steps == 1 ? "" : "s"),
        seconds);
  }

  public static void further(String how, double[] residual, double seconds) {
    say(
        "solve: %s, %d of them, the first with ||b - Ax|| = %.6e; %.3f s",
        how, residual.length, residual[0], seconds);
  }

  /** Logs rank and residual norms at the end of a solve. */
  public static void done(int rank, int columns, double[] residual, double seconds) {
    say(
        "done: rank %,d of %,d, ||b - Ax|| = %.6e%s; %.3f s in all",
        rank,
        columns,
        residual.length == 0 ? Double.NaN : residual[0],
        residual.length > 1 ? " (the first of %d)".formatted(residual.length) : "",
        seconds);
  }

  /** Logs the failure with its chain of causes, which does not fit in a one-line message. */
  static void failed(String phase, double seconds, Throwable e) {
    LOG.error(
        String.format(
            Locale.ROOT, "failed (%s) after %.3f s: %s", phase, seconds, SparkErrors.line(e)),
        e);
  }

  private static String work(double flops) {
    return SolveReport.work(flops);
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%,.1f MB", bytes / 1e6);
  }

  private static void say(String format, Object... values) {
    if (LOG.isInfoEnabled() && !Foreground.aside()) {
      LOG.info(String.format(Locale.ROOT, format, values));
    }
  }
}
