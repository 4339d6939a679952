/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.design.level.AbsorbedFactor;
import io.sparqr.spark.python.Parcels;
import io.sparqr.spark.python.PythonSupport;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The tables describing a model that its {@code transform} can return, selected by the param {@code
 * output}.
 */
final class ModelOutput {

  /**
   * The data with a column of predictions, the only output besides "all" and "allWithErrors" that
   * is not a table of the model.
   */
  static final String PREDICTION = "prediction";

  /** The data with a column of predictions, NaN for rows without one. */
  static final String ALL = "all";

  /** As above, with a column of their standard errors. */
  static final String ALL_WITH_ERRORS = "allWithErrors";

  /** What the column of standard errors is called, after the column of predictions. */
  static final String ERROR = "StandardError";

  private static final String COEFFICIENTS = "coefficients";
  private static final String ERRORS = "errors";
  private static final String FIT = "fit";
  private static final String INFERENCE = "inference";
  private static final String METRICS = "metrics";
  private static final String TEXT = "text";
  private static final String PAGE = "page";
  private static final String TABLE = "table";
  private static final String DEPENDENCIES = "dependencies";
  private static final String EFFECTS = "effects";
  private static final String TRAINING = "training";
  private static final String RESIDUALS = "residuals";

  private static final List<String> NAMES =
      List.of(
          PREDICTION,
          ALL,
          ALL_WITH_ERRORS,
          COEFFICIENTS,
          ERRORS,
          FIT,
          INFERENCE,
          METRICS,
          TEXT,
          PAGE,
          TABLE,
          DEPENDENCIES,
          EFFECTS,
          TRAINING,
          RESIDUALS);

  private ModelOutput() {}

  static Param<String> param(String uid) {
    return new Param<>(
        uid,
        "output",
        "what transform returns: one of " + String.join(", ", NAMES),
        ParamValidators.<String>inArray(NAMES));
  }

  static DoubleParam level(String uid) {
    return new DoubleParam(
        uid,
        "level",
        "confidence level whose critical value the output \"inference\" has",
        ParamValidators.inRange(0, 1, false, false));
  }

  static Dataset<Row> of(SparseQRRegressionModel model, SparkSession session) {
    String what = model.getOutput();
    if (what.equals(COEFFICIENTS)) {
      return coefficients(model).table(session);
    }
    SparseQRRegressionSummary s = model.summary();
    return switch (what) {
      case ERRORS -> errors(s).table(session);
      case FIT -> fit(s).table(session);
      case INFERENCE -> inference(s, model.getLevel()).table(session);
      case METRICS -> metrics(s).table(session);
      case TEXT -> new Parcels().text(TEXT, s.toString()).table(session);
      case PAGE -> new Parcels().text(PAGE, PythonSupport.page(s.report())).table(session);
      case TABLE -> s.toDataFrame();
      case DEPENDENCIES -> s.dependencies();
      case EFFECTS -> s.absorbedEffects();
      case TRAINING -> s.predictions();
      case RESIDUALS -> s.residuals();
      default -> throw new IllegalArgumentException("no output " + what);
    };
  }

  private static Parcels coefficients(SparseQRRegressionModel model) {
    return new Parcels()
        .numbers(COEFFICIENTS, model.coefficients().toArray())
        .numbers("intercept", model.intercept())
        .numbers("hasSummary", model.hasSummary() ? 1 : 0);
  }

  private static Parcels errors(SparseQRRegressionSummary s) {
    return new Parcels()
        .numbers("coefficientStandardErrors", s.coefficientStandardErrors())
        .numbers("tValues", s.tValues())
        .numbers("pValues", s.pValues());
  }

  /** Doubles hold the counts exactly, because these are below 2^53. */
  private static Parcels fit(SparseQRRegressionSummary s) {
    return new Parcels()
        .numbers("numInstances", s.numInstances())
        .numbers("degreesOfFreedom", s.degreesOfFreedom())
        .numbers("rank", s.rank())
        .numbers("deadColumns", Arrays.stream(s.deadColumns()).asDoubleStream().toArray())
        .text("featuresCol", s.featuresCol())
        .text("labelCol", s.labelCol())
        .text("predictionCol", s.predictionCol())
        .text("report", s.report().toJson());
  }

  /** The values that {@code sparqr.feols} shows of a fit, apart from the tables. */
  private static Parcels inference(SparseQRRegressionSummary s, double level) {
    double[][] covariance =
        s.hasCoefficientCovariance() ? s.coefficientCovariance() : new double[0][];
    return new Parcels()
        .numbers("numInstances", s.numInstances())
        .numbers("rank", s.rank())
        .numbers("degreesOfFreedom", s.degreesOfFreedom())
        .numbers("testDegreesOfFreedom", s.testDegreesOfFreedom())
        .numbers("criticalValue", s.criticalValue(level))
        .numbers("r2", s.r2())
        .numbers("r2adj", s.r2adj())
        .numbers("r2Within", s.r2Within())
        .numbers("sigma", s.sigma())
        .text("standardErrorsAssume", s.standardErrorsAssume())
        .text("leftOut", s.leftOut().toString())
        .text("warnings", String.join("\n", s.report().warnings()))
        .numbers("fStatistic", s.fStatistic())
        .numbers("fPValue", s.fPValue())
        .numbers("fModelDegreesOfFreedom", s.fModelDegreesOfFreedom())
        .numbers("fResidualDegreesOfFreedom", s.fResidualDegreesOfFreedom())
        .numbers(
            "absorbedLevels",
            s.absorbedFactors().stream().mapToDouble(AbsorbedFactor::levels).toArray())
        .numbers("covariance", PythonSupport.flat(covariance))
        .numbers(
            "absorbedColumns",
            s.absorbedFactors().stream().mapToDouble(AbsorbedFactor::columns).toArray());
  }

  private static Parcels metrics(SparseQRRegressionSummary s) {
    return new Parcels()
        .numbers("meanSquaredError", s.meanSquaredError())
        .numbers("rootMeanSquaredError", s.rootMeanSquaredError())
        .numbers("meanAbsoluteError", s.meanAbsoluteError())
        .numbers("explainedVariance", s.explainedVariance())
        .numbers("r2", s.r2())
        .numbers("r2adj", s.r2adj())
        .numbers("devianceResiduals", s.devianceResiduals());
  }
}
