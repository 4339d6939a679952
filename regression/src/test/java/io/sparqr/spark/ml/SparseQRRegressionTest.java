/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import io.sparqr.SampledCases;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.LUDecomposition;
import org.apache.commons.math3.linear.RealMatrix;
import org.apache.spark.ml.regression.LinearRegression;
import org.apache.spark.ml.regression.LinearRegressionModel;
import org.apache.spark.ml.regression.LinearRegressionTrainingSummary;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against Spark's own linear regression and against closed forms. */
class SparseQRRegressionTest {

  private static final long SEED = 7;
  private static final Sample SAMPLE = Sample.random(SEED, 80, 4);

  /** Designs here have kappa below 50: normal equations lose kappa^2, 2500 roundings a row. */
  private static Offset<Double> near(double value) {
    return Offset.offset(2500 * 80 * Math.ulp(1.0) * Math.max(1, Math.abs(value)));
  }

  private static void same(double[] actual, double[] expected, String what) {
    assertThat(actual).as(what).hasSameSizeAs(expected);
    for (int j = 0; j < actual.length; j++) {
      assertThat(actual[j])
          .as("%s %d, seed %d", what, j, SEED)
          .isCloseTo(expected[j], near(expected[j]));
    }
  }

  @SampledCases(oneIn = 4)
  @ParameterizedTest
  @CsvSource({"true,false", "true,true", "false,false", "false,true"})
  void agreesWithSparksNormalSolver(boolean intercept, boolean weighted) {
    Dataset<Row> data = SAMPLE.data().cache();
    var spark = new LinearRegression().setSolver("normal").setFitIntercept(intercept);
    var ours = new SparseQRRegression().setFitIntercept(intercept);
    if (weighted) {
      spark.setWeightCol("weight");
      ours.setWeightCol("weight");
    }
    LinearRegressionModel expected = spark.fit(data);
    SparseQRRegressionModel model = ours.fit(data);
    LinearRegressionTrainingSummary e = expected.summary();
    SparseQRRegressionSummary s = model.summary();

    same(model.coefficients().toArray(), expected.coefficients().toArray(), "coefficient");
    assertThat(model.intercept()).isCloseTo(expected.intercept(), near(expected.intercept()));
    same(s.coefficientStandardErrors(), e.coefficientStandardErrors(), "standard error");
    same(s.tValues(), e.tValues(), "t value");
    same(s.pValues(), e.pValues(), "p value");
    same(s.devianceResiduals(), e.devianceResiduals(), "deviance residual");
    same(
        new double[] {
          s.meanSquaredError(),
          s.rootMeanSquaredError(),
          s.meanAbsoluteError(),
          s.explainedVariance()
        },
        new double[] {
          e.meanSquaredError(),
          e.rootMeanSquaredError(),
          e.meanAbsoluteError(),
          e.explainedVariance()
        },
        "measure");
    double total = weighted && intercept ? sparksTotal(SAMPLE.w()) : 1;
    same(
        new double[] {1 - s.r2(), 1 - s.r2adj()},
        new double[] {(1 - e.r2()) * total, (1 - e.r2adj()) * total},
        "1 - r2");
    assertThat(s.numInstances()).isEqualTo(e.numInstances());
    assertThat(s.degreesOfFreedom()).isEqualTo(e.degreesOfFreedom());
    same(doubles(s.residuals()), doubles(e.residuals()), "residual");
    same(
        doubles(s.predictions().select("prediction")),
        doubles(e.predictions().select("prediction")),
        "prediction");
    data.unpersist();
  }

  /**
   * Spark uses W - 1 times the unbiased weighted variance as the sum of w (y - mean)^2, which is
   * right only for weights of 1. This is the factor by which it is too large.
   */
  private static double sparksTotal(double[] w) {
    double sum = 0;
    double squares = 0;
    for (double v : w) {
      sum += v;
      squares += v * v;
    }
    return (sum - 1) / (sum - squares / sum);
  }

  private static double[] doubles(Dataset<Row> column) {
    ToDoubleFunction<Row> first = r -> r.getDouble(0);
    return column.collectAsList().stream().mapToDouble(first).toArray();
  }

  @Test
  void ridgeLeavesTheInterceptAlone() {
    double regParam = 0.3;
    var model =
        new SparseQRRegression().setWeightCol("weight").setRegParam(regParam).fit(SAMPLE.data());
    SparseQRRegressionSummary s = model.summary();
    int m = SAMPLE.y().length;
    int n = 4;
    // (A'WA + lambda D) z = A'Wy with A = [X 1], D = diag(1, ..., 1, 0), lambda = W regParam
    var gram = new Array2DRowRealMatrix(n + 1, n + 1);
    var c = new double[n + 1];
    double weights = 0;
    for (int i = 0; i < m; i++) {
      double w = SAMPLE.w()[i];
      weights += w;
      for (int j = 0; j <= n; j++) {
        double u = j < n ? SAMPLE.x()[i][j] : 1;
        c[j] += w * u * SAMPLE.y()[i];
        for (int k = 0; k <= n; k++) {
          gram.addToEntry(j, k, w * u * (k < n ? SAMPLE.x()[i][k] : 1));
        }
      }
    }
    for (int j = 0; j < n; j++) {
      gram.addToEntry(j, j, weights * regParam);
    }
    RealMatrix inverse = new LUDecomposition(gram).getSolver().getInverse();
    double[] z = inverse.operate(c);
    double squares = 0;
    for (int i = 0; i < m; i++) {
      double r = SAMPLE.y()[i] - z[n];
      for (int j = 0; j < n; j++) {
        r -= SAMPLE.x()[i][j] * z[j];
      }
      squares += SAMPLE.w()[i] * r * r;
    }
    var errors = new double[n + 1];
    for (int j = 0; j <= n; j++) {
      errors[j] = Math.sqrt(squares / (m - n - 1) * inverse.getEntry(j, j));
    }
    same(model.coefficients().toArray(), java.util.Arrays.copyOf(z, n), "coefficient");
    assertThat(model.intercept()).isCloseTo(z[n], near(z[n]));
    assertThat(s.meanSquaredError()).isCloseTo(squares / weights, near(squares / weights));
    same(s.coefficientStandardErrors(), errors, "standard error");
    assertThat(s.numInstances()).isEqualTo(m);
  }

  @Test
  void sparksRegParamIsDividedByTheLabelsDeviation() {
    Dataset<Row> data = SAMPLE.data();
    double r = 0.4;
    var expected =
        new LinearRegression()
            .setSolver("normal")
            .setStandardization(false)
            .setRegParam(r)
            .setElasticNetParam(0)
            .fit(data);
    double mean = java.util.Arrays.stream(SAMPLE.y()).average().orElseThrow();
    double variance = 0;
    for (double y : SAMPLE.y()) {
      variance += (y - mean) * (y - mean) / SAMPLE.y().length;
    }
    var model = new SparseQRRegression().setRegParam(r / Math.sqrt(variance)).fit(data);
    same(model.coefficients().toArray(), expected.coefficients().toArray(), "coefficient");
  }

  @Test
  void anIntegerWeightIsThatManyRows() {
    Sample base = Sample.random(SEED, 20, 2);
    var w = new double[20];
    var x = new java.util.ArrayList<double[]>();
    var y = new java.util.ArrayList<Double>();
    for (int i = 0; i < 20; i++) {
      w[i] = i % 4;
      for (int k = 0; k < i % 4; k++) {
        x.add(base.x()[i]);
        y.add(base.y()[i]);
      }
    }
    var ones = new double[y.size()];
    java.util.Arrays.fill(ones, 1);
    var repeated =
        new Sample(
            x.toArray(double[][]::new),
            y.stream().mapToDouble(Double::doubleValue).toArray(),
            ones);
    for (double ridge : new double[] {0, 0.1}) {
      var expected = new SparseQRRegression().setRegParam(ridge).fit(repeated.data());
      var model =
          new SparseQRRegression()
              .setWeightCol("weight")
              .setRegParam(ridge)
              .fit(new Sample(base.x(), base.y(), w).data());
      same(model.coefficients().toArray(), expected.coefficients().toArray(), "coefficient");
      assertThat(model.summary().r2()).isCloseTo(expected.summary().r2(), near(1));
      assertThat(model.summary().numInstances()).as("weight 0 is no instance").isEqualTo(15);
    }
  }

  /**
   * 70,000 features: sparse, far beyond 4096, ridge rows of two tasks; b_j = y_j / (1 + lambda).
   */
  @Sampled(oneIn = 3)
  @Test
  void takesManySparseFeatures() {
    int n = 70_000;
    double regParam = 0.5 / n;
    Dataset<Row> data =
        io.sparqr.spark.LocalSpark.session()
            .range(0, n, 1, 2)
            .select(
                org.apache.spark.sql.functions.col("id").cast("double").as("place"),
                org.apache.spark.sql.functions.expr("cast(id % 11 - 5 as double)").as("label"));
    data =
        new org.apache.spark.ml.feature.OneHotEncoder()
            .setInputCol("place")
            .setOutputCol("features")
            .setDropLast(false)
            .fit(data)
            .transform(data);
    var model =
        new SparseQRRegression()
            .setFitIntercept(false)
            .setRegParam(regParam)
            .setComputeStandardErrors(false)
            .fit(data);
    double[] b = model.coefficients().toArray();
    assertThat(b).hasSize(n);
    for (int j = 0; j < n; j++) {
      double expected = (j % 11 - 5) / 1.5;
      if (Math.abs(b[j] - expected) > 20 * Math.ulp(5.0)) {
        assertThat(b[j]).as("coefficient %d", j).isEqualTo(expected);
      }
    }
    assertThat(model.summary().numInstances()).isEqualTo(n);
    assertThat(model.summary().report().proof().redoneTasks()).isZero();
  }

  /**
   * With a ridge there may be fewer rows than features; without degrees of freedom there are no
   * statistics.
   */
  @Test
  void hasNoErrorsWithoutDegreesOfFreedom() {
    Sample few = Sample.random(SEED, 4, 4);
    for (double ridge : new double[] {0, 0.2}) {
      var model = new SparseQRRegression().setRegParam(ridge).fit(few.data());
      SparseQRRegressionSummary s = model.summary();
      assertThat(s.degreesOfFreedom()).isLessThanOrEqualTo(0);
      assertThat(s.coefficientStandardErrors()).hasSize(5).containsOnly(Double.NaN);
      assertThat(s.pValues()).containsOnly(Double.NaN);
    }
  }

  @Test
  void namesDeadColumns() {
    Sample base = Sample.random(SEED, 40, 2);
    var x = new double[40][];
    for (int i = 0; i < 40; i++) {
      double[] v = base.x()[i];
      x[i] = new double[] {v[0], v[1], 2 * v[0] - v[1]};
    }
    Dataset<Row> data = new Sample(x, base.y(), base.w()).data();
    var model = new SparseQRRegression().fit(data);
    SparseQRRegressionSummary s = model.summary();
    double[] full =
        new SparseQRRegression()
            .fit(base.data()).summary().residuals().collectAsList().stream()
                .mapToDouble(r -> r.getDouble(0))
                .toArray();

    assertThat(s.rank()).isEqualTo(3);
    assertThat(s.degreesOfFreedom()).isEqualTo(37);
    assertThat(s.deadColumns()).hasSize(1);
    int dead = s.deadColumns()[0];
    assertThat(dead).isBetween(0, 2);
    assertThat(model.coefficients().apply(dead)).isZero();
    for (int j = 0; j < 4; j++) {
      assertThat(Double.isNaN(s.coefficientStandardErrors()[j])).isEqualTo(j == dead);
      assertThat(Double.isNaN(s.pValues()[j])).isEqualTo(j == dead);
    }
    same(doubles(s.residuals()), full, "residual");
  }

  @Test
  void refusesWhatItCannotUse() {
    Dataset<Row> data = SAMPLE.data();
    assertThatThrownBy(() -> new SparseQRRegression().setRegParam(-1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SparseQRRegression().setOrdering("fastest"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SparseQRRegression().setWeightCol("features").fit(data))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("features");
    var bad = new Sample(new double[][] {{1}, {Double.NaN}}, new double[2], new double[] {1, 1});
    for (double ridge : List.of(0.0, 1.0)) {
      assertThatThrownBy(() -> new SparseQRRegression().setRegParam(ridge).fit(bad.data()))
          .isInstanceOf(io.sparqr.error.NonFiniteValueException.class);
    }
    Dataset<Row> holes =
        data.withColumn("label", org.apache.spark.sql.functions.expr("nullif(label, label)"));
    for (double ridge : List.of(0.0, 1.0)) {
      assertThatThrownBy(() -> new SparseQRRegression().setRegParam(ridge).fit(holes))
          .isInstanceOf(io.sparqr.error.MatrixFormatException.class)
          .hasMessageContaining("null label");
    }
    var bare = new SparseQRRegression().setComputeStandardErrors(false).fit(data).summary();
    assertThatThrownBy(bare::tValues).isInstanceOf(UnsupportedOperationException.class);
    assertThat(bare.r2()).isBetween(0.5, 1.0);
  }

  @Test
  void whatNeedsTheLabelsAgainRefusesOthers() {
    var noise =
        org.apache
            .spark
            .sql
            .functions
            .udf(() -> Math.random(), org.apache.spark.sql.types.DataTypes.DoubleType)
            .asNondeterministic();
    Dataset<Row> data = SAMPLE.data().withColumn("label", noise.apply());
    var lazy = new SparseQRRegression().setRegParam(0.5).setComputeStandardErrors(false);
    var fitted = lazy.fit(data).summary();
    String said =
        "the input had 80 rows, then as many with other columns, values, weights or labels: the"
            + " input changed between its two readings; persist it";
    for (ThrowingCallable reads : List.<ThrowingCallable>of(fitted::r2, fitted::meanSquaredError)) {
      assertThatThrownBy(reads)
          .isInstanceOf(io.sparqr.error.InputChangedException.class)
          .hasMessage(said);
    }
    data.persist();
    try {
      assertThat(new SparseQRRegression().fit(data).summary().r2()).isBetween(0.0, 1.0);
    } finally {
      data.unpersist(true);
    }
  }
}
