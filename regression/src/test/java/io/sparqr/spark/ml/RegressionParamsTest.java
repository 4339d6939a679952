/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.ProgressListener;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.Param;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** Every param of the estimator has an effect. */
class RegressionParamsTest {

  private static SolveOptions solver(SparseQRRegression stage) {
    var training = new Training(null, stage, ProgressListener.NONE, null);
    return training.solver().options();
  }

  @Test
  void paramsOfTheSolverReachIt() {
    assertThat(solver(new SparseQRRegression().setComputeStandardErrors(false)))
        .usingRecursiveComparison()
        .isEqualTo(
            SolveOptions.defaults()
                .with(
                    SolveOptions.defaults()
                        .problem()
                        .withDropping(SolveOptions.Dropping.ANY.keeping(new int[] {-1}))));
    // the selected inverse has singletons' errors like all others
    assertThat(solver(new SparseQRRegression()).analysis().symbolic().singletons()).isFalse();
    assertThat(solver(new SparseQRRegression().setOrdering("nd")).analysis().symbolic().ordering())
        .isEqualTo(OrderingMethod.NESTED_DISSECTION);
    assertThat(solver(new SparseQRRegression().setBackend("cuda")).factorization().backend())
        .isEqualTo(BackendChoice.REQUIRE_CUDA);
    assertThat(solver(new SparseQRRegression().setRankTolerance(-1)).problem().rankTolerance())
        .isEqualTo(OptionalDouble.of(-1));
    assertThat(solver(new SparseQRRegression()).factorization().profile()).isFalse();
    assertThat(solver(new SparseQRRegression().setProfile(true)).factorization().profile())
        .isTrue();
    assertThatThrownBy(() -> new SparseQRRegression().setOrdering("metis"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SparseQRRegression().setBackend("tpu"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SparseQRRegression().setRegParam(-1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Dataset<Row> data() {
    List<Row> rows = new ArrayList<>();
    for (int i = 1; i <= 8; i++) {
      rows.add(
          RowFactory.create(
              Vectors.dense(i, i % 3), Vectors.dense(i, i), Math.sin(i), 3.0 * i, i < 5 ? 1 : 2.0));
    }
    var schema =
        new StructType()
            .add("features", SQLDataTypes.VectorType())
            .add("twice", SQLDataTypes.VectorType())
            .add("label", "double")
            .add("other", "double")
            .add("w", "double");
    return LocalSpark.session().createDataFrame(rows, schema);
  }

  /** Without the standard errors, which take a factorization of their own. */
  private static SparseQRRegression quick() {
    return new SparseQRRegression().setComputeStandardErrors(false);
  }

  @Test
  void paramsOfTheFitChangeIt() {
    Dataset<Row> data = data();
    SparseQRRegressionModel plain = new SparseQRRegression().fit(data);
    double[] b = plain.coefficients().toArray();
    for (SparseQRRegression other :
        List.of(
            quick().setWeightCol("w"),
            quick().setFitIntercept(false),
            quick().setRegParam(0.5),
            quick().setLabelCol("other"),
            quick().setFeaturesCol("twice"))) {
      double[] changed = other.fit(data).coefficients().toArray();
      assertThat(Math.abs(changed[0] - b[0]))
          .as(other.extractParamMap().toString())
          .isGreaterThan(1e-3);
    }
    assertThat(quick().setFitIntercept(false).fit(data).intercept()).isZero();
    assertThat(quick().setFeaturesCol("twice").fit(data).summary().deadColumns()).hasSize(1);
    assertThat(quick().setFeaturesCol("twice").setRankTolerance(10).fit(data).summary().rank())
        .isZero();
    assertThat(
            Arrays.stream(quick().setPredictionCol("fitted").fit(data).transform(data).columns())
                .toList())
        .contains("fitted");
    var without = quick().fit(data).summary();
    assertThatThrownBy(without::coefficientStandardErrors)
        .isInstanceOf(UnsupportedOperationException.class);
    assertThat(plain.summary().coefficientStandardErrors()[0]).isPositive();
    for (String ordering : List.of("nd", "natural")) {
      assertThat(quick().setOrdering(ordering).fit(data).summary().report().analysis().ordering())
          .startsWith(ordering.substring(0, 1).toUpperCase(java.util.Locale.ROOT));
    }
    assertThat(plain.predict(Vectors.dense(0, 0))).isCloseTo(plain.intercept(), within(0.0));
  }

  @Test
  void optionsOfTheSolverAreParamsAsDeclared() throws ReflectiveOperationException {
    var estimator = new SparseQRRegression();
    for (SolveOption<?> option : SolveOption.of(SolveOption.Way.ML)) {
      Param<Object> param = estimator.getParam(option.name());
      assertThat(param.doc()).startsWith(option.summary().replace("`", ""));
      assertThat(estimator.isDefined(param)).isEqualTo(option.byDefault().isPresent());
      option
          .defaultValue()
          .ifPresent(v -> assertThat(estimator.getOrDefault(param)).isEqualTo(option.param(v)));
      String capital =
          option.name().substring(0, 1).toUpperCase(java.util.Locale.ROOT)
              + option.name().substring(1);
      Class<?> type =
          MethodType.methodType(option.param(sample(option)).getClass()).unwrap().returnType();
      Object value = option.param(sample(option));
      SparseQRRegression.class.getMethod("set" + capital, type).invoke(estimator, value);
      assertThat(SparseQRRegression.class.getMethod("get" + capital).invoke(estimator))
          .isEqualTo(value);
      assertThat(solver(estimator).toString()).isNotEqualTo(solver(quick()).toString());
    }
    var tolerance = new SparseQRRegression();
    assertThatThrownBy(() -> tolerance.setRankTolerance(Double.NaN))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static String sample(SolveOption<?> option) {
    List<String> words = option.type().words();
    return option.type().isFlag()
        ? String.valueOf(option.defaultValue().orElseThrow().equals("false"))
        : words.isEmpty() ? "0.25" : words.get(words.size() - 1);
  }

  @Test
  void thereAreNoOtherParams() {
    assertThat(Arrays.stream(new SparseQRRegression().params()).map(Param::name))
        .containsExactlyInAnyOrder(
            "featuresCol",
            "labelCol",
            "predictionCol",
            "weightCol",
            "fitIntercept",
            "regParam",
            "ordering",
            "backend",
            "method",
            "rankTolerance",
            "profile",
            "computeStandardErrors",
            // FormulaRegressionTest
            "formula",
            "categoricalCols",
            "referenceLevels",
            "offsetCol",
            "handleInvalid",
            // FormulaRegressionTest
            "keepTerms",
            "dropTerms",
            // RobustRegressionTest
            "vcov",
            "clusterCols",
            "clusterCorrection",
            // named by the errors of a fit: FailureMessagesTest
            "idCol");
  }
}
