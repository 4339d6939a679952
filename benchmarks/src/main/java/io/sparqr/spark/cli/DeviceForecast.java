/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Foretold beside measured seconds of factorizations on the devices that are visible, in local
 * Spark with the analysis given: {@code DeviceForecast REPEAT PROBLEM...}; a problem is {@code
 * SPEC@ORDERING[@LEVELS[@WORKERS]]}. Run it with CUDA_VISIBLE_DEVICES=0 and without. Prints the
 * work, how the tree was cut for how many devices and why, the foretold seconds and the least and
 * the median of the measured ones.
 */
public final class DeviceForecast {

  private DeviceForecast() {}

  /** See the class. */
  public static void main(String[] args) {
    int repeat = Integer.parseInt(args[0]);
    SparkConf conf = BenchmarkSpark.conf("local[*]", "sparqr forecast");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      for (String problem : Arrays.asList(args).subList(1, args.length)) {
        measure(context, problem, repeat);
      }
    }
  }

  private static void measure(JavaSparkContext context, String problem, int repeat) {
    String[] part = problem.split("@");
    CsrMatrix a = LocalProblem.generate("gen:" + part[0]);
    var labeled = new LocalProblem(a, new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a)));
    OrderingMethod method =
        Arrays.stream(OrderingMethod.values())
            .filter(m -> m.label().equals(part[1]))
            .findFirst()
            .orElseThrow();
    int levels = part.length > 2 ? Integer.parseInt(part[2]) : 1;
    int workers = part.length > 3 ? Integer.parseInt(part[3]) : 0;
    var options = new PartitionOptions(2, Math.max(4, levels), levels, 2e8);
    GpuSparseQR.Builder builder =
        GpuSparseQR.builder()
            .backend(BackendChoice.REQUIRE_CUDA)
            .ordering(method)
            .partitionOptions(options);
    if (workers > 0) {
      builder = builder.executors(workers);
    }
    try (var rows = new DriverRows(context, labeled, context.defaultParallelism())) {
      SymbolicAnalysis analysis;
      try (QRFactorization f = builder.factorize(rows.rows())) {
        analysis = f.analysis();
      }
      TreePartition cut =
          ClusterResources.probe(Engine.of(context), workers, new DeviceVerdict.Use(true, ""))
              .plan(analysis, options, 1, workers > 0)
              .cut();
      var given = builder.analysis(analysis);
      double[] seconds = new double[repeat];
      SolveReport last = null;
      for (int k = 0; k < repeat; k++) {
        try (QRFactorization f = given.factorize(rows.rows())) {
          last = f.summary();
          seconds[k] = last.seconds().factorize();
        }
      }
      Arrays.sort(seconds);
      List<String> notes = last.notes();
      System.out.printf(
          Locale.ROOT,
          "%s | %.4g Gflop, intensity %.3g, %d fronts | %d tasks, %d levels | foretold %.3f,"
              + " bound %.3f, least %.3f, median %.3f s, plan %.3f s | %s%n",
          problem,
          analysis.flops() * 1e-9,
          analysis.intensity(),
          analysis.fronts(),
          cut.tasks().size(),
          cut.levels(),
          cut.estimatedSeconds(),
          cut.lowerBoundSeconds(),
          seconds[0],
          seconds[(repeat - 1) / 2],
          last.seconds().plan(),
          notes);
    }
  }
}
