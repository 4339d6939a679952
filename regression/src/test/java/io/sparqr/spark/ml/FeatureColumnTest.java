/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.NonFiniteValueException;
import io.sparqr.spark.LocalSpark;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Features as arrays are those of vectors; what is neither is refused before a job. */
class FeatureColumnTest {

  private static Dataset<Row> arrays(boolean withNull) {
    var random = new Random(11);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      // halves, which are the same as floats
      double x = random.nextInt(100) / 2.0;
      double z = random.nextInt(100) / 2.0;
      var features = Arrays.asList(x, withNull && i == 17 ? null : (Double) z);
      rows.add(RowFactory.create(1 + 2 * x - z + random.nextGaussian(), features, "g" + i % 3));
    }
    return LocalSpark.session()
        .createDataFrame(
            rows,
            new StructType().add("label", "double").add("f x", "array<double>").add("g", "string"));
  }

  private static Dataset<Row> as(String type) {
    return arrays(false).selectExpr("label", "cast(`f x` as " + type + ") features", "g");
  }

  private static Dataset<Row> vectors() {
    List<Row> rows =
        arrays(false).collectAsList().stream()
            .map(
                r ->
                    RowFactory.create(
                        r.get(0),
                        Vectors.dense(r.<Double>getList(1).get(0), r.<Double>getList(1).get(1)),
                        r.get(2)))
            .toList();
    return LocalSpark.session()
        .createDataFrame(
            rows,
            new StructType()
                .add("label", "double")
                .add("features", org.apache.spark.ml.linalg.SQLDataTypes.VectorType())
                .add("g", "string"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"array<double>", "array<float>"})
  void arraysAreReadAsVectors(String type) {
    for (String[] factors : new String[][] {{}, {"g"}}) {
      var stage = new SparseQRRegression().setCategoricalCols(factors);
      SparseQRRegressionModel expected = stage.fit(vectors());
      Dataset<Row> data = as(type);
      SparseQRRegressionModel found = stage.fit(data);
      assertThat(found.coefficients()).isEqualTo(expected.coefficients());
      assertThat(found.intercept()).isEqualTo(expected.intercept());
      assertThat(found.coefficientNames()).isEqualTo(expected.coefficientNames());
      assertThat(found.summary().predictions().select("prediction").collectAsList())
          .isEqualTo(expected.summary().predictions().select("prediction").collectAsList());
      for (Dataset<Row> out : List.of(found.transform(data), found.transformAll(data))) {
        assertThat(out.drop("prediction").collectAsList()).isEqualTo(data.collectAsList());
        assertThat(out.columns()).containsExactly("label", "features", "g", "prediction");
        assertThat(out.schema().apply("features").dataType().simpleString()).isEqualTo(type);
        assertThat(out.select("prediction").collectAsList())
            .isEqualTo(expected.transform(vectors()).select("prediction").collectAsList());
      }
      assertThat(found.transformSchema(data.schema()).simpleString())
          .isEqualTo(found.transform(data).schema().simpleString());
    }
  }

  @Test
  void aNameWithASpaceAndAMissingElement() {
    var stage = new SparseQRRegression().setFeaturesCol("f x");
    assertThat(stage.fit(arrays(false)).coefficients().size()).isEqualTo(2);
    assertThatThrownBy(() -> stage.fit(arrays(true)))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("NaN");
  }

  @Test
  void othersAreRefusedByTheirType() {
    var stage = new SparseQRRegression();
    SparseQRRegressionModel model = stage.fit(vectors());
    for (String type : List.of("array<int>", "array<string>", "string")) {
      Dataset<Row> data = as(type);
      for (Runnable call : List.<Runnable>of(() -> stage.fit(data), () -> model.transform(data))) {
        assertThatThrownBy(call::run)
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage(
                "features column features is of type %s: "
                    + "a vector, array<double> or array<float> is taken",
                type);
      }
    }
  }
}
