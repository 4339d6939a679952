/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import io.sparqr.configuration.Keys;
import io.sparqr.partition.ResourceModel;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.cluster.FrontLimit;
import io.sparqr.spark.device.DeviceOpening;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.symbolic.FactorizationRate;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The analysis of the rows' pattern: the caller's, or a new one. */
final class AnalysisStep {

  private static final double RATE_SHARE = 0.5;
  private static final double BANDWIDTH_SHARE = 0.75;
  private static final double GRAM_SHARE = 0.6;

  private final Engine engine;
  private final SolveOptions options;
  private final DeviceOpening opening;
  private final List<String> warnings;

  /**
   * Analyses for one solve.
   *
   * @param opening is told of devices whose speed the choice of the order has asked for
   * @param warnings gets what the user should know
   */
  AnalysisStep(Engine engine, SolveOptions options, DeviceOpening opening, List<String> warnings) {
    this.engine = engine;
    this.options = options;
    this.opening = opening;
    this.warnings = warnings;
  }

  /** The pipeline's decisions between CPU and GPU. */
  interface Verdicts {
    DeviceVerdict of(double flops, double intensity);
  }

  /** The caller's analysis if it fits, otherwise a new one with these options. */
  SymbolicAnalysis of(PatternPass.Result found, SymbolicOptions symbolic, Verdicts verdicts) {
    boolean retry =
        symbolic.notSingletons().length > options.analysis().symbolic().notSingletons().length;
    if (options.analysis().known().isPresent() && !retry) {
      SymbolicAnalysis given = options.analysis().known().get();
      if (given.isOf(found.patterns().fingerprint())) {
        return fitting(given, symbolic, verdicts);
      }
      warnings.add("the given analysis is of another pattern: analyzed again");
    }
    SymbolicOptions known = symbolic.withRate(new Rate(symbolic.rate(), verdicts));
    if (found.patterns().graph().isPresent()) {
      warnings.add(
          "%,d distinct row patterns are more than the driver takes (%s): analyzed by the graph of"
                  .formatted(found.patterns().count(), Keys.ROW_PATTERNS.name())
              + " A'A, without column singletons");
    }
    return fitting(found.patterns().analyze(known), symbolic, verdicts);
  }

  /** The same analysis, if there is a worker for its largest front. */
  private SymbolicAnalysis fitting(
      SymbolicAnalysis analysis, SymbolicOptions symbolic, Verdicts verdicts) {
    if (analysis.fronts() > 0) {
      limit(verdicts.of(analysis.flops(), analysis.intensity()))
          .require(analysis, symbolic.rhs(), symbolic.reduction().tall());
    }
    return analysis;
  }

  /**
   * Memory that a tree of fronts may take which is factored by its Gram matrix: rows and results
   * need the rest of a task's.
   */
  long gramBytes(DeviceVerdict verdict) {
    return (long) (GRAM_SHARE * resources(verdict).taskBytes());
  }

  private FrontLimit limit(DeviceVerdict verdict) {
    return resources(verdict).frontLimit();
  }

  private ClusterResources resources(DeviceVerdict verdict) {
    return ClusterResources.probe(engine, options.cut().workers().orElse(0), verdict);
  }

  /** The caller's rate or that of the engine, and the limit of the engine's memory. */
  private final class Rate implements FactorizationRate {

    private static final long serialVersionUID = 1;

    private final transient Optional<FactorizationRate> given;
    private final transient Verdicts verdicts;
    private transient @Nullable FrontLimit limit;

    Rate(Optional<FactorizationRate> given, Verdicts verdicts) {
      this.given = given;
      this.verdicts = verdicts;
    }

    @Override
    public double flopsPerSecond(double flops, double intensity) {
      return given.isPresent()
          ? given.get().flopsPerSecond(flops, intensity)
          : rate(verdicts, flops, intensity);
    }

    @Override
    public void counted(double flops, double entriesOfR, double fullness, long rows, long columns) {
      if (given.isPresent()) {
        given.get().counted(flops, entriesOfR, fullness, rows, columns);
      }
      if (limit == null) {
        double bytes = FrontMemory.frontBytes(rows, columns, 0);
        limit = limit(verdicts.of(flops, FrontMemory.intensity(flops, bytes)));
      }
      limit.requireSomeOrder(flops, entriesOfR, fullness, rows, columns);
    }
  }

  /**
   * Flops per second for the choice of the order. A GPU's if the problem will run on one: a better
   * order is then less often worth the search. Only a part of its rate, since the search is
   * foretold in seconds of one thread, and takes several.
   */
  private double rate(Verdicts verdicts, double flops, double intensity) {
    DeviceVerdict devices = verdicts.of(flops, intensity);
    if (!devices.use()) {
      return FactorizationRate.PROCESSOR;
    }
    opening.consider(devices);
    return ClusterResources.probe(engine, options.cut().workers().orElse(0), devices)
        .model()
        .workers()
        .stream()
        .filter(ResourceModel.Worker::device)
        .mapToDouble(w -> w.share(RATE_SHARE, BANDWIDTH_SHARE).flopsPerSecond(intensity))
        .max()
        .orElse(FactorizationRate.PROCESSOR);
  }

  /**
   * The columns that must not be singletons, with those whose pivots proved too small.
   *
   * @param bad these, in the order of the analysis
   */
  int[] barred(SymbolicOptions symbolic, SymbolicAnalysis analysis, int[] bad) {
    int before = symbolic.notSingletons().length;
    int[] columns = Arrays.copyOf(symbolic.notSingletons(), before + bad.length);
    for (int k = 0; k < bad.length; k++) {
      columns[before + k] = analysis.permutation().original(bad[k]);
    }
    Arrays.sort(columns);
    warnings.add(
        bad.length
            + " column singleton(s) with a pivot below the rank tolerance, column "
            + analysis.permutation().original(bad[0])
            + " among them: analyzed again without them");
    return columns;
  }
}
