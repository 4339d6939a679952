/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.python;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.WhatIf;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.pattern.RowPatterns;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.Advice;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaRDD;

/** The predicted cost of a factorization, for {@code sparqr.analyze}; nothing is factorized. */
public final class PythonAnalysis {

  private PythonAnalysis() {}

  /** An executor with the reference device, an H200. */
  public static ResourceModel.Worker gpu() {
    return ResourceModel.Worker.gpu("executor", DeviceModel.reference());
  }

  /**
   * An executor without a device.
   *
   * @param flopsPerSecond on large fronts; times scale with it; 0: {@link
   *     ResourceModel#EXECUTOR_FLOPS}
   * @param memoryBytes its heap; 0: as much as the driver's
   */
  public static ResourceModel.Worker cpu(double flopsPerSecond, long memoryBytes) {
    long heap = memoryBytes > 0 ? memoryBytes : Runtime.getRuntime().maxMemory();
    double rate = flopsPerSecond > 0 ? flopsPerSecond : ResourceModel.EXECUTOR_FLOPS;
    return ResourceModel.Worker.cpu("executor", rate, heap);
  }

  /**
   * The analysis in numbers and the cuts for different numbers of executors, as JSON: {@code
   * summary} with the names of {@link SymbolicSummary}, {@code cuts} with those of {@link
   * WhatIf.Line}, {@code advice} for the first of them. One Spark job over the rows; the analysis
   * runs on the driver.
   *
   * @param rows of A, as for a solve
   * @param ordering word for the column order
   * @param like model of one executor
   * @param counts numbers of executors, at least 1 each
   * @throws io.sparqr.error.SparseQrException as a solve of these rows would
   */
  public static String analyze(
      JavaRDD<?> rows, String ordering, ResourceModel.Worker like, List<Integer> counts) {
    SymbolicOptions options =
        SymbolicOptions.defaults().withOrdering(SolveOption.ORDERING.parse(ordering));
    if (like.device()) {
      options = options.withRate((flops, intensity) -> like.flopsPerSecond(intensity));
    }
    RowPatterns patterns = patterns(RowSource.of(rows));
    SymbolicAnalysis analysis = patterns.analyze(options);
    WhatIf cuts =
        WhatIf.of(
            analysis,
            like,
            ResourceModel.NETWORK,
            ResourceModel.LEVEL_SECONDS,
            PartitionOptions.defaults(),
            counts.stream().mapToInt(Integer::intValue).toArray());
    SymbolicSummary summary = SymbolicSummary.of(analysis, 1);
    WhatIf.Line first = cuts.lines().get(0);
    Advice advice =
        Advice.of(
            summary,
            first.seconds(),
            like.device() ? 0 : first.peakBytes(),
            like.memoryBytes(),
            patterns.whole().map(Advice::effectColumns).orElse(0));
    try {
      return new ObjectMapper()
          .writeValueAsString(
              Map.of("summary", flat(summary), "cuts", cuts.lines(), "advice", advice.toMap()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("an analysis that is not JSON", e);
    }
  }

  /** All numbers under the names of the summary's methods. */
  private static Map<String, Object> flat(SymbolicSummary s) {
    var map = new LinkedHashMap<String, Object>();
    map.put("rows", s.rows());
    map.put("columns", s.columns());
    map.put("nonzeros", s.nonzeros());
    map.put("singletons", s.singletons());
    map.put("ordering", s.ordering());
    map.put("orderingReason", s.orderingReason());
    map.put("nonzerosOfR", s.nonzerosOfR());
    map.put("flops", s.flops());
    map.put("tileFlops", s.tileFlops());
    map.put("criticalPathFlops", s.criticalPathFlops());
    map.put("fronts", s.fronts());
    map.put("leaves", s.leaves());
    map.put("height", s.height());
    map.put("largestRows", s.largestRows());
    map.put("largestColumns", s.largestColumns());
    map.put("frontBytes", s.frontBytes());
    map.put("peakBytes", s.peakBytes());
    map.put("arithmeticIntensity", s.arithmeticIntensity());
    map.put("histogram", s.histogram());
    map.put("orderSeconds", s.orderSeconds());
    map.put("analyzeSeconds", s.analyzeSeconds());
    return map;
  }

  private static RowPatterns patterns(RowSource source) {
    try (var scope = new JobScope(source.engine())) {
      scope.describe("pattern for an analysis");
      return new PatternPass(source, SolveOptions.defaults()).run().patterns();
    }
  }
}
