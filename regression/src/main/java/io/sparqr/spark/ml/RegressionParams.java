/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.design.DesignOptions;
import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.design.HandleInvalid;
import io.sparqr.spark.plan.DeclaredOption;
import io.sparqr.spark.plan.DeclaredOption.Way;
import io.sparqr.spark.plan.SolveOption;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.spark.ml.param.BooleanParam;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.ml.param.Params;
import org.apache.spark.ml.param.StringArrayParam;
import scala.runtime.AbstractFunction1;

/**
 * The params shared by estimator and model, made from the declarations of their options, and the
 * only place that maps them to those of the design and of the solver. Only they make and read one.
 */
public final class RegressionParams implements Serializable {

  private static final long serialVersionUID = 1;

  final Param<String> weightCol;
  final Param<String> idCol;
  final BooleanParam fitIntercept;
  final DoubleParam regParam;
  final Param<String> ordering;
  final Param<String> backend;
  final Param<String> method;
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

  /** All of these by name: the owner's own list may not be asked for before all of it is made. */
  private final LinkedHashMap<String, Param<?>> made = new LinkedHashMap<>();

  /** Creates the params for an owner with a known uid. */
  RegressionParams(Params owner) {
    weightCol = text(owner, RegressionOption.WEIGHT_COL);
    idCol = text(owner, RegressionOption.ID_COL);
    fitIntercept = flag(owner, RegressionOption.FIT_INTERCEPT);
    regParam = real(owner, RegressionOption.REG_PARAM);
    ordering = text(owner, SolveOption.ORDERING);
    backend = text(owner, SolveOption.BACKEND);
    method = text(owner, SolveOption.METHOD);
    rankTolerance = real(owner, SolveOption.RANK_TOLERANCE);
    computeStandardErrors = flag(owner, RegressionOption.COMPUTE_STANDARD_ERRORS);
    profile = flag(owner, SolveOption.PROFILE);
    formula = text(owner, RegressionOption.FORMULA);
    categoricalCols = texts(owner, RegressionOption.CATEGORICAL_COLS);
    referenceLevels = texts(owner, RegressionOption.REFERENCE_LEVELS);
    offsetCol = text(owner, RegressionOption.OFFSET_COL);
    handleInvalid = text(owner, RegressionOption.HANDLE_INVALID);
    keepTerms = texts(owner, RegressionOption.KEEP_TERMS);
    dropTerms = texts(owner, RegressionOption.DROP_TERMS);
    vcov = text(owner, RegressionOption.VCOV);
    clusterCols = texts(owner, RegressionOption.CLUSTER_COLS);
    clusterCorrection = text(owner, RegressionOption.CLUSTER_CORRECTION);
  }

  /** The options that are params: those of the regression, then those of its solver. */
  static List<DeclaredOption<?>> declared() {
    var all = new ArrayList<DeclaredOption<?>>(RegressionOption.all());
    all.addAll(SolveOption.of(Way.ML));
    return all;
  }

  /** Sets the defaults of those that have one. */
  void setDefaults(Params owner) {
    declared().forEach(option -> setDefault(owner, option));
  }

  private void setDefault(Params owner, DeclaredOption<?> option) {
    @SuppressWarnings("unchecked") // the param was made for this option
    Param<Object> param = (Param<Object>) Objects.requireNonNull(made.get(option.name()));
    option.defaultValue().ifPresent(v -> owner.setDefault(param, option.param(v)));
  }

  /** Passes those that are options of the solver on to it. */
  void configure(Params owner, GpuSparseQR.Builder builder) {
    for (SolveOption<?> option : SolveOption.of(Way.ML)) {
      Param<Object> param = owner.getParam(option.name());
      if (owner.isDefined(param)) {
        builder.option(option.name(), String.valueOf(owner.getOrDefault(param)));
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

  /** A word of a list, or any text. */
  private Param<String> text(Params owner, DeclaredOption<?> option) {
    String id = owner.uid();
    List<String> words = option.type().words();
    return kept(
        words.isEmpty()
            ? new Param<>(id, option.name(), meaning(option))
            : new Param<>(
                id, option.name(), meaning(option), ParamValidators.<String>inArray(words)));
  }

  private StringArrayParam texts(Params owner, DeclaredOption<String[]> option) {
    return kept(new StringArrayParam(owner, option.name(), meaning(option)));
  }

  private DoubleParam real(Params owner, DeclaredOption<Double> option) {
    return kept(
        new DoubleParam(owner.uid(), option.name(), meaning(option), new InRange(option.name())));
  }

  private BooleanParam flag(Params owner, DeclaredOption<Boolean> option) {
    return kept(new BooleanParam(owner.uid(), option.name(), meaning(option)));
  }

  private <P extends Param<?>> P kept(P param) {
    made.put(param.name(), param);
    return param;
  }

  private static String meaning(DeclaredOption<?> option) {
    List<String> words = option.type().words();
    String summary = option.summary().replace("`", "");
    return summary
        + (words.isEmpty() ? "" : ": one of " + String.join(", ", words))
        + (option.byDefault().isPresent() ? "" : "; if this is not set: " + option.defaultText());
  }

  /** The range of an option, as Spark asks for it: by name, because Spark copies it. */
  private static final class InRange extends AbstractFunction1<Object, Object>
      implements Serializable {

    private static final long serialVersionUID = 2;

    private final String name;

    InRange(String name) {
      this.name = name;
    }

    @Override
    public Object apply(Object value) {
      return declared().stream()
          .filter(option -> option.name().equals(name))
          .anyMatch(option -> accepts(option, value));
    }

    private static <T> boolean accepts(DeclaredOption<T> option, Object value) {
      return option.type().accepts(option.type().javaClass().cast(value));
    }
  }
}
