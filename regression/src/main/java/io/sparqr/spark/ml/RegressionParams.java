/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.design.DesignOptions;
import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.design.HandleInvalid;
import io.sparqr.spark.plan.SolveOption;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.ml.param.BooleanParam;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.ml.param.Params;
import org.apache.spark.ml.param.StringArrayParam;
import scala.runtime.AbstractFunction1;

/**
 * The params shared by estimator and model, and the only place that maps them to options. Only they
 * make and read one.
 */
public final class RegressionParams implements Serializable {

  private static final long serialVersionUID = 1;

  final Param<String> weightCol;
  final Param<String> idCol;
  final BooleanParam fitIntercept;
  final DoubleParam regParam;
  final Param<String> ordering;
  final Param<String> backend;
  final DoubleParam rankTolerance;
  final BooleanParam computeStandardErrors;
  final BooleanParam profile;
  final Param<String> formula;
  final StringArrayParam categoricalCols;
  final StringArrayParam referenceLevels;
  final Param<String> offsetCol;
  final Param<String> handleInvalid;
  final StringArrayParam keepTerms;
  final StringArrayParam dropTerms;
  final Param<String> vcov;
  final StringArrayParam clusterCols;
  final Param<String> clusterCorrection;

  /** Those that are options of the solver, by name. */
  private final LinkedHashMap<String, Param<?>> solver = new LinkedHashMap<>();

  /** Creates the params for an owner with a known uid. */
  RegressionParams(Params owner) {
    String id = owner.uid();
    weightCol =
        new Param<>(
            id,
            "weightCol",
            "weight column name. If this is not set or empty, we treat all instance weights as"
                + " 1.0");
    idCol =
        new Param<>(
            id,
            "idCol",
            "column whose value an error names of the row that it is about; if this is not set or"
                + " empty, errors name partition, row and file alone");
    fitIntercept = new BooleanParam(id, "fitIntercept", "whether to fit an intercept term");
    regParam =
        new DoubleParam(
            id,
            "regParam",
            "ridge parameter (>= 0) of 1/(2 W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2 with W ="
                + " sum of the weights; the intercept c is not penalized",
            ParamValidators.gtEq(0));
    ordering = word(id, SolveOption.ORDERING);
    backend = word(id, SolveOption.BACKEND);
    rankTolerance = real(id, SolveOption.RANK_TOLERANCE);
    computeStandardErrors =
        new BooleanParam(
            id,
            "computeStandardErrors",
            "whether fit computes the standard errors of the coefficients");
    profile = flag(id, SolveOption.PROFILE);
    formula =
        new Param<>(
            id,
            "formula",
            "R's formula for response, columns and absorbed effects, such as log_wage ~ age + firm"
                + " or y ~ a * x | worker; if this is not set or empty, the features column");
    categoricalCols =
        new StringArrayParam(
            owner,
            "categoricalCols",
            "columns that are factors: integers, strings, truth values or numbers");
    referenceLevels =
        new StringArrayParam(
            owner,
            "referenceLevels",
            "reference levels of factors, each as column=level; of the others the first level");
    offsetCol =
        new Param<>(id, "offsetCol", "column that is taken off the label and added to predictions");
    handleInvalid =
        new Param<>(
            id,
            "handleInvalid",
            "what is done with rows that lack a value: error, skip (leave the row out), keep"
                + " (missing is a level of its own)",
            ParamValidators.<String>inArray(HandleInvalid.names()));
    keepTerms =
        new StringArrayParam(
            owner,
            "keepTerms",
            "names of coefficients that stay where columns depend on each other, the first most of"
                + " all; the intercept stays before them");
    dropTerms =
        new StringArrayParam(
            owner,
            "dropTerms",
            "names of coefficients that go first where columns depend on each other; of the others"
                + " the later go");
    vcov =
        new Param<>(
            id,
            "vcov",
            "standard errors: iid (equal variances), HC0 to HC3 (any variances), cluster; if this is"
                + " not set: cluster where clusterCols is set, otherwise iid",
            ParamValidators.<String>inArray(VcovNames.names()));
    clusterCols =
        new StringArrayParam(
            owner,
            "clusterCols",
            "one or two columns of clusters, within which errors may be correlated");
    clusterCorrection =
        new Param<>(
            id,
            "clusterCorrection",
            "small-sample correction of clustered errors: fixest (its ssc: t with G - 1, absorbed"
                + " effects nested in clusters are not counted), sandwich (vcovCL's), none",
            ParamValidators.<String>inArray(VcovNames.corrections()));
  }

  /** Sets the defaults of those that have one. */
  void setDefaults(Params owner) {
    owner.setDefault(fitIntercept, true);
    owner.setDefault(regParam, 0.0);
    owner.setDefault(computeStandardErrors, true);
    owner.setDefault(clusterCorrection, VcovNames.FIXEST);
    owner.setDefault(handleInvalid, HandleInvalid.ERROR.param());
    solver.values().forEach(param -> setDefault(owner, param));
  }

  private static <T> void setDefault(Params owner, Param<T> param) {
    SolveOption<?> option = SolveOption.named(param.name());
    @SuppressWarnings("unchecked") // the param was made for this option
    Optional<T> value = (Optional<T>) option.defaultValue().map(option::param);
    value.ifPresent(v -> owner.setDefault(param, v));
  }

  /** Passes those that are options of the solver on to it. */
  void configure(Params owner, GpuSparseQR.Builder builder) {
    for (Param<?> param : solver.values()) {
      if (owner.isDefined(param)) {
        builder.option(param.name(), String.valueOf(owner.getOrDefault(param)));
      }
    }
  }

  /** Whether a fit builds a design instead of using the features column directly. */
  static boolean hasDesign(SparseQRRegressionParams owner) {
    return !owner.getFormula().isEmpty()
        || owner.getCategoricalCols().length > 0
        || owner.getReferenceLevels().length > 0
        || !owner.getOffsetCol().isEmpty()
        || owner.getClusterCols().length > 0
        || !owner.getHandleInvalid().equals(HandleInvalid.ERROR.param());
  }

  /**
   * The options of the design.
   *
   * @param features the features column; empty: factors alone
   * @param label label column for a formula without response
   * @throws IllegalArgumentException if a reference level is not {@code column=level}
   */
  static DesignOptions design(SparseQRRegressionParams owner, String features, String label) {
    var columns = new ArrayList<String>();
    if (!features.isEmpty()) {
      columns.add(features);
    }
    for (String factor : owner.getCategoricalCols()) {
      if (!columns.contains(factor)) {
        columns.add(factor);
      }
    }
    var references = new LinkedHashMap<String, String>();
    for (String reference : owner.getReferenceLevels()) {
      int at = reference.indexOf('=');
      if (at < 1) {
        throw new IllegalArgumentException(
            "reference level \"" + reference + "\" is not of the form column=level");
      }
      references.put(reference.substring(0, at), reference.substring(at + 1));
    }
    return DesignOptions.builder()
        .formula(owner.getFormula())
        .columns(columns)
        .categorical(Set.of(owner.getCategoricalCols()))
        .references(references)
        .role(Role.LABEL, label)
        .role(Role.WEIGHT, owner.getWeightCol())
        .role(Role.OFFSET, owner.getOffsetCol())
        .role(Role.ID, owner.getIdCol())
        .clusters(List.of(owner.getClusterCols()))
        .intercept(owner.getFitIntercept())
        .handleInvalid(HandleInvalid.of(owner.getHandleInvalid()))
        .build();
  }

  private Param<String> word(String id, SolveOption<?> option) {
    List<String> words = option.type().words();
    return ofSolver(
        new Param<>(
            id,
            option.name(),
            meaning(option) + ": one of " + String.join(", ", words),
            ParamValidators.<String>inArray(words)));
  }

  private DoubleParam real(String id, SolveOption<Double> option) {
    return ofSolver(
        new DoubleParam(id, option.name(), meaning(option), new InRange(option.name())));
  }

  private BooleanParam flag(String id, SolveOption<Boolean> option) {
    return ofSolver(new BooleanParam(id, option.name(), meaning(option)));
  }

  private <P extends Param<?>> P ofSolver(P param) {
    solver.put(param.name(), param);
    return param;
  }

  private static String meaning(SolveOption<?> option) {
    String summary = option.summary().replace("`", "");
    return option.byDefault().isPresent()
        ? summary
        : summary + "; if this is not set: " + option.defaultText();
  }

  /** The range of an option of the solver, as Spark asks for it. */
  private static final class InRange extends AbstractFunction1<Object, Object>
      implements Serializable {

    private static final long serialVersionUID = 1;

    private final String option;

    InRange(String option) {
      this.option = option;
    }

    @Override
    public Object apply(Object value) {
      return accepts(SolveOption.named(option), value);
    }

    private static <T> boolean accepts(SolveOption<T> option, Object value) {
      return option.type().accepts(option.type().javaClass().cast(value));
    }
  }
}
