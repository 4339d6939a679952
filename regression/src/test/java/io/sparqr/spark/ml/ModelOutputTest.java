/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.LocalSpark;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables of a model by transform, and the files of a server that keeps models. */
class ModelOutputTest {

  private static final Dataset<Row> DATA = Sample.random(23, 30, 3).data();
  private static final SparseQRRegressionModel MODEL = new SparseQRRegression().fit(DATA);

  private static List<Row> rows(String output) {
    return MODEL
        .copy(new org.apache.spark.ml.param.ParamMap())
        .setOutput(output)
        .transform(LocalSpark.session().range(0))
        .collectAsList();
  }

  private static double[] numbers(String output, String name) {
    Row row = rows(output).stream().filter(r -> r.getString(0).equals(name)).findFirst().get();
    byte[] bytes = row.getAs(3);
    var values = new double[bytes.length / Double.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(values);
    return values;
  }

  @Test
  void valuesAreTheSummarys() {
    SparseQRRegressionSummary s = MODEL.summary();
    assertThat(numbers("coefficients", "coefficients"))
        .containsExactly(MODEL.coefficients().toArray());
    assertThat(numbers("coefficients", "intercept")).containsExactly(MODEL.intercept());
    assertThat(numbers("coefficients", "hasSummary")).containsExactly(1);
    assertThat(numbers("errors", "coefficientStandardErrors"))
        .containsExactly(s.coefficientStandardErrors());
    assertThat(numbers("errors", "tValues")).containsExactly(s.tValues());
    assertThat(numbers("errors", "pValues")).containsExactly(s.pValues());
    assertThat(numbers("fit", "rank")).containsExactly(4);
    assertThat(numbers("fit", "numInstances")).containsExactly(30);
    assertThat(numbers("fit", "deadColumns")).isEmpty();
    assertThat(numbers("metrics", "r2")).containsExactly(s.r2());
    assertThat(numbers("metrics", "devianceResiduals")).containsExactly(s.devianceResiduals());
    assertThat(numbers("inference", "sigma")).containsExactly(s.sigma());
    assertThat(numbers("inference", "testDegreesOfFreedom")).containsExactly(26);
    assertThat(numbers("inference", "criticalValue")).containsExactly(s.criticalValue(0.95));
    assertThat(numbers("inference", "covariance")).isEmpty();
    assertThat(numbers("inference", "absorbedColumns")).isEmpty();
    assertThat(rows("page").get(0).getString(2)).as("without a profile").isEmpty();
    assertThat(rows("text").get(0).getString(2)).isEqualTo(s.toString());
    assertThat(rows("table")).isEqualTo(s.toDataFrame().collectAsList());
    assertThat(rows("dependencies")).isEmpty();
    assertThat(rows("effects")).isEmpty();
    assertThat(rows("residuals")).isEqualTo(s.residuals().collectAsList());
    assertThat(rows("training")).isEqualTo(s.predictions().collectAsList());
    assertThatThrownBy(() -> rows("everything")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void ofAFormulaWithAbsorbedEffects() {
    Dataset<Row> data =
        DATA.withColumn("g", org.apache.spark.sql.functions.expr("cast(abs(label) * 3 as int) % 4"))
            .withColumn("x", org.apache.spark.sql.functions.expr("label * label"));
    SparseQRRegressionModel fit =
        new SparseQRRegression()
            .setFormula("label ~ x | g")
            .setProfile(true)
            .setPredictionCol("p")
            .fit(data);
    SparseQRRegressionSummary s = fit.summary();
    Dataset<Row> none = LocalSpark.session().range(0).toDF();
    fit.setOutput("inference");
    var told = new java.util.HashMap<String, Row>();
    fit.transform(none).collectAsList().forEach(r -> told.put(r.getString(0), r));
    assertThat(((byte[]) told.get("covariance").getAs(3))).hasSize(Double.BYTES);
    assertThat(s.coefficientCovariance()[0][0]).isPositive();
    double levels =
        ByteBuffer.wrap(told.get("absorbedColumns").getAs(3))
            .order(ByteOrder.LITTLE_ENDIAN)
            .getDouble();
    assertThat(levels).isEqualTo(data.select("g").distinct().count());
    assertThat(told.get("standardErrorsAssume").getString(2)).isEmpty();
    assertThat(fit.setOutput("page").transform(none).head().getString(2))
        .startsWith("<!DOCTYPE html>")
        .contains("standard errors");
    Row unseen =
        fit.setOutput("all")
            .transform(data.limit(1).withColumn("g", org.apache.spark.sql.functions.lit(77)))
            .head();
    assertThat(unseen.<Double>getAs("p")).isNaN();
  }

  @Test
  void trainingDataArePredictedWhateverTheOutput() {
    SparseQRRegressionModel model = new SparseQRRegression().fit(DATA).setOutput("training");
    assertThat(model.transform(DATA).columns()).contains("prediction");
    assertThat(model.summary().residuals().count()).isEqualTo(30);
  }

  @Test
  void comesBackFromAServersFile(@TempDir Path folder) throws Exception {
    var estimator = new SparseQRRegression().setFormula("label ~ weight").setPredictionCol("p");
    SparseQRRegressionModel model = estimator.fit(DATA);
    var writer = model.write();
    writer.getClass().getMethod("saveToLocal", String.class);
    LocalModel.write(model, folder.resolve("model"));
    // as a server reads it: MLReader.loadFromLocal of Spark 4.1 calls load
    SparseQRRegressionModel back = SparseQRRegressionModel.load(folder.resolve("model").toString());
    assertThat(back.coefficients()).isEqualTo(model.coefficients());
    assertThat(back.uid()).isEqualTo(model.uid());
    assertThat(back.hasSummary()).isFalse();
    assertThat(back.transform(DATA).collectAsList())
        .isEqualTo(model.transform(DATA).collectAsList());
    back.setOutput("fit");
    assertThatThrownBy(() -> back.transform(DATA))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no training summary");
    assertThat(model.estimatedSize()).isBetween(1024L, 4096L);
  }
}
