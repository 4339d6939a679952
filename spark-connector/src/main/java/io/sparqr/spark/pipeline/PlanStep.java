/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import io.sparqr.backend.FrontMethod;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.condition.RankRequest;
import io.sparqr.spark.device.TuningChoice;
import io.sparqr.spark.factorization.Earlier;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.ColumnScales;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.PlannedTuning;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The plan of a factorization, from the analysis and the figures of the first pass. */
final class PlanStep {

  private final RowSource source;
  private final SolveOptions options;
  private final Earlier earlier;

  private final RankRequest request;
  private final List<String> warnings;

  /** Of the first plan, if it is for devices. */
  private @Nullable PlannedTuning tuned;

  PlanStep(
      RowSource source,
      SolveOptions options,
      Earlier earlier,
      RankRequest request,
      List<String> warnings) {
    this.warnings = warnings;
    this.request = request;
    this.source = source;
    this.options = options;
    this.earlier = earlier;
  }

  /** The cut for the resources at hand. */
  ClusterResources.Planned cut(
      SymbolicAnalysis analysis, PatternPass.Result found, ClusterResources resources) {
    if (analysis.fronts() == 0) {
      var empty = new TreePartition(List.of(), 0, new int[0], 0, 0);
      return new ClusterResources.Planned(analysis, resources, empty, 1, "");
    }
    return resources.plan(
        analysis,
        cutOptions(),
        Math.max(1, found.rhs().count()),
        options.cut().workers().isPresent());
  }

  /** The plan with this cut, the scaling and the tolerance. */
  SolvePlan of(PatternPass.Result found, ClusterResources.Planned planned, DeviceVerdict devices) {
    SymbolicAnalysis analysis = planned.analysis();
    double[] scale = new double[analysis.columns()];
    double largest = 0;
    boolean ridged = options.problem().ridge().any();
    for (int j = 0; j < scale.length; j++) {
      double norm = found.norm()[j];
      if (ridged) {
        norm = Math.hypot(norm, Math.sqrt(options.problem().ridge().of(j)));
      }
      if (!Double.isFinite(norm)) {
        throw new NonFiniteValueException("the 2-norm of column " + j + " overflows", -1, j);
      }
      boolean scaled = options.problem().equilibrate() && norm > 0;
      scale[j] = scaled ? ColumnScales.ofNorm(norm) : ColumnScales.NONE;
      // a column far from 1 becomes a unit column by significands and exponents
      largest = Math.max(largest, scale[j] > 0 ? norm * scale[j] : 1);
    }
    for (int j : request.last()) {
      scale[j] = scale[j] > 0 ? scale[j] * request.shrink() : scale[j];
    }
    long rows = earlier.counted(found).rows() + ridge().rows(analysis.columns());
    double tolerance =
        options
            .problem()
            .rankTolerance()
            .orElse(FactorOptions.defaultTolerance(rows, analysis.columns(), largest));
    double[] rhsScale = new double[found.rhs().count()];
    for (int k = 0; k < rhsScale.length; k++) {
      rhsScale[k] = rhsScale(found.rhs().max()[k]);
    }
    return new SolvePlan(
        analysis,
        planned.cut(),
        scale,
        rhsScale,
        numbers(found, tolerance, planned.resources(), devices),
        found.readings());
  }

  private SolvePlan.Numbers numbers(
      PatternPass.Result found,
      double tolerance,
      ClusterResources resources,
      DeviceVerdict devices) {
    return new SolvePlan.Numbers(
        found.rhs().count(),
        tolerance,
        options.problem().ridge(),
        devices,
        options.factorization().deviceMemoryBytes().orElse(0),
        resources.local(),
        new SolvePlan.Fronts(
            options.factorization().keepQ(),
            options.factorization().method() == FrontMethod.AUTO
                && !options.factorization().keepQ(),
            tuned(devices, resources.local())),
        options.problem().equilibrate(),
        resources.combineFlops(found.nonzeros()));
  }

  /**
   * The tuning for the devices of the tasks, decided once.
   *
   * @param here whether they are those of this JVM
   */
  private PlannedTuning tuned(DeviceVerdict devices, boolean here) {
    if (!devices.use()) {
      return PlannedTuning.NONE;
    }
    PlannedTuning its = tuned;
    if (its == null) {
      TuningChoice choice = TuningChoice.of(here);
      choice.warning().ifPresent(warnings::add);
      its = choice.tuning();
      tuned = its;
    }
    return its;
  }

  /** The ridge of the problem, whether its rows are in the source or not. */
  private Ridge ridge() {
    return earlier.ridge().any() ? earlier.ridge() : options.problem().ridge();
  }

  private PartitionOptions cutOptions() {
    return options.cut().partition().withCombinedParts(source.partitions());
  }

  /** A power of two: 1 unless squares of the right-hand side would leave the range of doubles. */
  private static double rhsScale(double max) {
    return max == 0 || max > 1e-100 && max < 1e100 ? 1 : Math.scalb(1.0, -Math.getExponent(max));
  }
}
