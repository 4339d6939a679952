/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.report.AnalysisReport;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a problem would need: one of the gallery by its analysis, one of given sizes by the worst
 * that its pattern can be, a full R.
 */
final class ProblemCheck {

  private static final Pattern SIZES = Pattern.compile("(\\d{1,15})x(\\d{1,9})x(\\d{1,15})");

  /** May be used of a heap by tasks, as for a solve. */
  static final double USABLE = 0.85;

  private ProblemCheck() {}

  /**
   * Looks at a problem.
   *
   * @param problem gen:SPEC or ROWSxCOLUMNSxNONZEROS
   * @param heap of an executor, in bytes
   * @throws IllegalArgumentException if the problem is neither
   */
  static void look(String problem, long heap, Findings findings) {
    Matcher m = SIZES.matcher(problem);
    if (m.matches()) {
      sizes(
          Long.parseLong(m.group(1)),
          Long.parseLong(m.group(2)),
          Long.parseLong(m.group(3)),
          heap,
          findings);
    } else if (problem.startsWith("gen:")) {
      analysis(problem, heap, findings);
    } else {
      throw new IllegalArgumentException(
          "problem '" + problem + "': gen:SPEC or ROWSxCOLUMNSxNONZEROS is expected");
    }
  }

  private static void sizes(long m, long n, long nonzeros, long heap, Findings findings) {
    if (m < 1 || n < 1 || nonzeros < Math.max(m, n)) {
      throw new IllegalArgumentException(
          "a problem of %,d x %,d with %,d nonzeros: every row and column needs one"
              .formatted(m, n, nonzeros));
    }
    long rows = FrontMemory.add(FrontMemory.multiply(12, nonzeros), FrontMemory.multiply(16, m));
    double full = 4.0 * n * (n + 1);
    double flops = 2.0 * n * n * (m - n / 3.0);
    long front = FrontMemory.hostBytes(m, n, 1);
    String need =
        "%,d x %,d: rows %s on their way; if R is full, %s, %s, and a front of %s at a time"
            .formatted(
                m,
                n,
                SymbolicSummary.bytesText(rows),
                SymbolicSummary.bytesText(full),
                SymbolicSummary.flopsText(Math.max(flops, 0)),
                SymbolicSummary.bytesText(front));
    if (front <= USABLE * heap) {
      findings.ok("%s; an executor has %s: it fits", need, text(heap));
    } else {
      findings.warning(
          "sparqr analyze --matrix FILE says what this pattern takes; if that is no less, LSQR"
              + " (docs/guide/which.md#when-r-is-too-large)",
          "%s; an executor has %s: it depends on the pattern",
          need,
          text(heap));
    }
  }

  private static void analysis(String problem, long heap, Findings findings) {
    SymbolicAnalysis a =
        SymbolicAnalyzer.analyze(Gallery.generate(problem).pattern(), SymbolicOptions.defaults());
    var summary = SymbolicSummary.of(a, 1);
    long task =
        a.fronts() == 0
            ? 0
            : AnalysisReport.executorBytes(
                TreePartitioner.partition(
                    a,
                    ResourceModel.uniform(1, ResourceModel.EXECUTOR_FLOPS, heap),
                    PartitionOptions.defaults(),
                    1));
    String need =
        "%s, %,d x %,d: R %s, %s, %s of heap at a time"
            .formatted(
                problem,
                summary.rows(),
                summary.columns(),
                SymbolicSummary.bytesText(Double.BYTES * summary.nonzerosOfR()),
                SymbolicSummary.flopsText(summary.flops()),
                SymbolicSummary.bytesText(task));
    if (task <= USABLE * heap) {
      findings.ok("%s; an executor has %s: it fits", need, text(heap));
    } else {
      long gigabytes = (long) (task / USABLE) / (1L << 30) + 1;
      findings.error(
          "spark.executor.memory=%dg (spark.driver.memory for a local master)".formatted(gigabytes),
          "%s; an executor has %s: it would be refused",
          need,
          text(heap));
    }
  }

  private static String text(long heap) {
    return SymbolicSummary.bytesText(USABLE * heap);
  }
}
