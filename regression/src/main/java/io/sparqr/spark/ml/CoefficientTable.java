/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.design.level.AbsorbedFactor;
import io.sparqr.spark.model.Dependency;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/** The coefficients of a summary with their names, in R's order, with the intercept first. */
final class CoefficientTable {

  /** Default number of coefficients shown. */
  static final int SHOWN = 100;

  private static final StructType SCHEMA =
      new StructType()
          .add("term", "string", false)
          .add("estimate", "double")
          .add("std_error", "double")
          .add("t_value", "double")
          .add("p_value", "double");

  private static final StructType EFFECTS =
      new StructType().add("term", "string", false).add("estimate", "double");

  private static final StructType DEPENDENCIES =
      new StructType()
          .add("term", "string", false)
          .add("depends_on", "string", false)
          .add("coefficient", "double", false);

  private final SparseQRRegressionSummary summary;
  private final Training source;
  private final DesignFit fit;
  private final int[] order;
  private final boolean[] dead;

  CoefficientTable(SparseQRRegressionSummary summary, Training source, DesignFit fit) {
    this.summary = summary;
    this.source = source;
    this.fit = fit;
    int n = fit.x().length;
    int reported =
        source.design() == null ? n - (source.ones() ? 1 : 0) : source.design().reported();
    int first = source.ones() ? 1 : 0;
    order = new int[reported + first];
    for (int k = 0; k < order.length; k++) {
      order[k] = k < first ? n - 1 : k - first;
    }
    dead = new boolean[n];
    for (int j : fit.dead()) {
      dead[j] = true;
    }
  }

  Dataset<Row> toDataFrame() {
    List<String> names = summary.coefficientNames();
    double[] made = fit.standardErrors();
    boolean errors = made != null;
    double[] e = made != null ? made : new double[0];
    double[] t = errors ? summary.tValues() : e;
    double[] p = errors ? summary.pValues() : e;
    var rows = new ArrayList<Row>();
    for (int j : order) {
      rows.add(
          RowFactory.create(
              names.get(j),
              dead[j] ? null : (Double) fit.x()[j],
              known(e, j),
              known(t, j),
              known(p, j)));
    }
    return source.data().sparkSession().createDataFrame(rows, SCHEMA);
  }

  Dataset<Row> absorbed() {
    List<String> names = summary.coefficientNames();
    var rows = new ArrayList<Row>();
    for (int j = 0; source.design() != null && j < dead.length; j++) {
      if (source.design().absorbed(j)) {
        rows.add(RowFactory.create(names.get(j), dead[j] ? null : (Double) fit.x()[j]));
      }
    }
    return source.data().sparkSession().createDataFrame(rows, EFFECTS);
  }

  Dataset<Row> dependencies() {
    List<String> names = summary.coefficientNames();
    var rows = new ArrayList<Row>();
    for (Dependency d : fit.dependencies()) {
      for (int i = 0; i < d.on().length; i++) {
        rows.add(
            RowFactory.create(names.get(d.column()), names.get(d.on()[i]), d.coefficients()[i]));
      }
    }
    return source.data().sparkSession().createDataFrame(rows, DEPENDENCIES);
  }

  private @Nullable Double known(double[] values, int j) {
    return j >= values.length || dead[j] ? null : (Double) values[j];
  }

  /** R's printout with at most this many coefficients. */
  String text(int shown) {
    var text = new StringBuilder("\nCall:\n").append(call()).append("\n\n");
    text.append(summary.weighted() ? "Weighted Residuals:\n" : "Residuals:\n");
    text.append(RegressionText.quartiles(summary.residualQuartiles()));
    int undefined = 0;
    for (int j : order) {
      undefined += dead[j] ? 1 : 0;
    }
    text.append("\nCoefficients:");
    if (undefined > 0) {
      text.append(" (").append(undefined).append(" not defined because of singularities)");
    }
    text.append('\n').append(table(Math.min(shown, order.length)));
    if (shown < order.length) {
      text.append("... and %,d more coefficients: toDataFrame()%n".formatted(order.length - shown));
    }
    CoefficientErrors errors = fit.errors();
    if (errors == null) {
      text.append("(no standard errors: computeStandardErrors was false)\n");
    } else if (!errors.assumed().isEmpty()) {
      text.append("Standard errors: ").append(errors.assumed()).append('\n');
    }
    return text.append(statistics()).toString();
  }

  private String call() {
    SparseQRRegressionParams p = source.params();
    String formula = p.getFormula();
    if (formula.isEmpty()) {
      var columns = new ArrayList<String>();
      if (source.design() == null) {
        columns.add(p.getFeaturesCol());
      } else {
        columns.addAll(source.design().columnNames());
      }
      if (!source.constant()) {
        columns.add(0, "0");
      }
      formula = source.response() + " ~ " + String.join(" + ", columns);
    }
    String weights = p.getWeightCol().isEmpty() ? "" : ", weights = " + p.getWeightCol();
    String offset = p.getOffsetCol().isEmpty() ? "" : ", offset = " + p.getOffsetCol();
    String ridge = p.getRegParam() == 0 ? "" : ", regParam = " + p.getRegParam();
    return "SparseQRRegression(formula = " + formula + weights + offset + ridge + ")";
  }

  private String table(int shown) {
    int[] some = Arrays.copyOf(order, shown);
    List<String> names = summary.coefficientNames();
    double[] estimates = picked(some, j -> fit.x()[j]);
    double[] errors = fit.standardErrors();
    if (errors == null) {
      return RegressionText.table(names(some, names), estimates);
    }
    double[] t = summary.tValues();
    double[] p = summary.pValues();
    return RegressionText.table(
        names(some, names),
        estimates,
        picked(some, j -> errors[j]),
        picked(some, j -> t[j]),
        picked(some, j -> p[j]));
  }

  private static List<String> names(int[] some, List<String> names) {
    return Arrays.stream(some).mapToObj(names::get).toList();
  }

  private double[] picked(int[] some, IntToDoubleFunction value) {
    return Arrays.stream(some)
        .mapToDouble(j -> dead[j] ? Double.NaN : value.applyAsDouble(j))
        .toArray();
  }

  private String statistics() {
    long df = summary.degreesOfFreedom();
    var text = new StringBuilder("\nResidual standard error: ");
    double sigma = summary.sigma();
    text.append(
        Double.isNaN(sigma) ? "NaN" : NumberFormat.alone(NumberFormat.significant(sigma, 4), 7));
    text.append(" on ").append(df).append(" degrees of freedom\n");
    long model = summary.modelDegreesOfFreedom();
    if (model > 0) {
      text.append("Multiple R-squared: ").append(' ').append(NumberFormat.general(summary.r2(), 4));
      text.append(",\tAdjusted R-squared: ").append(' ');
      text.append(NumberFormat.general(summary.r2adj(), 4));
      text.append('\n');
    }
    // With a ridge, F does not have this distribution.
    if (model > 0 && df > 0 && source.params().getRegParam() == 0) {
      text.append("F-statistic: ").append(NumberFormat.general(summary.fStatistic(), 4));
      text.append(" on ").append(summary.fModelDegreesOfFreedom()).append(" and ");
      text.append("%.0f".formatted(summary.fResidualDegreesOfFreedom())).append(" DF,  p-value: ");
      text.append(RegressionText.pValue(summary.fPValue()));
      text.append(summary.isWald() ? " (Wald, by these errors)\n" : "\n");
    }
    return text.append(beyondR()).toString();
  }

  /** What R's printout does not have: the rows, the absorbed effects, the warnings. */
  private String beyondR() {
    var text = new StringBuilder("\nObservations: %,d".formatted(summary.numInstances()));
    text.append(summary.leftOut().rows() == 0 ? "" : " (" + summary.leftOut() + ")").append('\n');
    text.append(effects());
    double within = summary.r2Within();
    if (!Double.isNaN(within)) {
      text.append("Within R-squared: ").append(NumberFormat.general(within, 4)).append('\n');
    }
    for (String warning : summary.report().warnings()) {
      text.append("Warning: ").append(warning).append('\n');
    }
    return text.toString();
  }

  /** The absorbed factors with their numbers of levels; empty without any. */
  private String effects() {
    List<AbsorbedFactor> factors = summary.absorbedFactors();
    return factors.isEmpty()
        ? ""
        : factors.stream()
            .map(f -> "%s (%,d levels)".formatted(f.name(), f.levels()))
            .collect(Collectors.joining(", ", "Absorbed effects: ", "\n"));
  }
}
