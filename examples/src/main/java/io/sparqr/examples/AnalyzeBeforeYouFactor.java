/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.PrintStream;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/**
 * The cost before the work: from the pattern alone Sparqr computes the flops of every column order
 * and the cut of the tree for a cluster. Needs no Spark. Builds on {@link HelloLeastSquares}.
 */
public final class AnalyzeBeforeYouFactor {

  private AnalyzeBeforeYouFactor() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(AnalyzeBeforeYouFactor::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    SparsityPattern pattern = Gallery.generate("gen:cells2d120").pattern();
    Map<OrderingMethod, SymbolicAnalysis> analyses = new EnumMap<>(OrderingMethod.class);
    for (OrderingMethod method :
        List.of(
            OrderingMethod.NATURAL,
            OrderingMethod.COLAMD,
            OrderingMethod.AMD,
            OrderingMethod.NESTED_DISSECTION)) {
      SymbolicAnalysis s =
          SymbolicAnalyzer.analyze(pattern, SymbolicOptions.defaults().withOrdering(method));
      analyses.put(method, s);
      out.printf("%-18s %12s, %,d fronts%n", method, SolveReport.work(s.flops()), s.fronts());
    }
    SymbolicAnalysis dissected = analyses.get(OrderingMethod.NESTED_DISSECTION);
    TreePartition cut =
        TreePartitioner.partition(
            dissected, ResourceModel.uniform(4, 1e9, 1L << 32), PartitionOptions.defaults());
    out.printf(
        "over 4 executors: %d tasks in %d levels, %.2f s against %.2f s on one%n",
        cut.tasks().size(), cut.levels(), cut.estimatedSeconds(), dissected.flops() / 1e9);
    double natural = analyses.get(OrderingMethod.NATURAL).flops();
    return analyses.get(OrderingMethod.COLAMD).flops() < natural
        && analyses.get(OrderingMethod.AMD).flops() < natural
        && dissected.flops() < natural
        && cut.lowerBoundSeconds() <= cut.estimatedSeconds() + 1e-9;
  }
}
