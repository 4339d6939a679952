/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import io.sparqr.spark.LocalSpark;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.evaluation.RegressionEvaluator;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.tuning.CrossValidator;
import org.apache.spark.ml.tuning.CrossValidatorModel;
import org.apache.spark.ml.tuning.ParamGridBuilder;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** As a stage among Spark ML's own: params, copies, files, pipelines, tuning, service files. */
class SparkMlStageTest {

  private static final Sample SAMPLE = Sample.random(11, 60, 3);

  @Test
  void paramsKeepTheirOwnerThroughCopies() {
    var estimator = new SparseQRRegression("mine").setRegParam(0.5).setFeaturesCol("f");
    assertThat(estimator.uid()).isEqualTo("mine");
    assertThat(estimator.featuresCol().parent()).as("made by a superclass").isEqualTo("mine");
    assertThat(estimator.regParam().parent()).isEqualTo("mine");
    SparseQRRegression copy =
        estimator.copy(new ParamMap().put(estimator.fitIntercept(), (Object) false));
    assertThat(copy.getRegParam()).isEqualTo(0.5);
    assertThat(copy.getFitIntercept()).isFalse();
    assertThat(copy.getFeaturesCol()).isEqualTo("f");
    assertThat(estimator.getFitIntercept()).isTrue();
    assertThat(estimator.explainParams()).contains("rankTolerance", "computeStandardErrors");
    assertThat(new SparseQRRegression().uid()).isNotEqualTo(new SparseQRRegression().uid());
  }

  @Test
  void comesBackFromFiles(@TempDir Path folder) throws IOException {
    Dataset<Row> data = SAMPLE.data();
    var estimator =
        new SparseQRRegression()
            .setWeightCol("weight")
            .setRegParam(0.01)
            .setPredictionCol("yhat")
            .setRankTolerance(1e-9);
    estimator.save(folder.resolve("estimator").toString());
    var again = SparseQRRegression.load(folder.resolve("estimator").toString());
    assertThat(again.uid()).isEqualTo(estimator.uid());
    assertThat(again.explainParams()).isEqualTo(estimator.explainParams());

    SparseQRRegressionModel model = again.fit(data);
    String path = folder.resolve("model").toString();
    model.save(path);
    SparseQRRegressionModel loaded = SparseQRRegressionModel.load(path);
    assertThat(loaded.uid()).isEqualTo(model.uid());
    assertThat(loaded.coefficients()).isEqualTo(model.coefficients());
    assertThat(loaded.intercept()).isEqualTo(model.intercept());
    assertThat(loaded.explainParams()).isEqualTo(model.explainParams());
    assertThat(loaded.transform(data).select("yhat").collectAsList())
        .isEqualTo(model.transform(data).select("yhat").collectAsList());
    assertThat(loaded.hasSummary()).isFalse();
    assertThatThrownBy(loaded::summary).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> model.save(path)).isInstanceOf(IOException.class);
    model.write().overwrite().save(path);
  }

  @Test
  void whatIsLoadedHasTheNameOfThePythonClass(@TempDir Path folder) throws IOException {
    var mine = new SparseQRRegression("mine").setRegParam(0.25);
    String one = folder.resolve("estimator").toString();
    String two = folder.resolve("again").toString();
    mine.save(one);
    SparseQRRegression loaded = SparseQRRegression.load(one);
    loaded.save(two);
    for (SparseQRRegression stage : List.of(loaded, SparseQRRegression.load(two))) {
      assertThat(stage.getClass().getName()).isEqualTo("sparqr.ml.SparseQRRegression");
      assertThat(stage.copy(ParamMap.empty()).getClass()).isEqualTo(stage.getClass());
      assertThat(stage.regParam().parent()).isEqualTo("mine");
      assertThat(stage.explainParams()).isEqualTo(mine.explainParams());
    }
    SparseQRRegressionModel model = mine.fit(SAMPLE.data());
    SparseQRRegressionModel named = loaded.fit(SAMPLE.data());
    assertThat(model.getClass().getName()).isEqualTo("io.sparqr.spark.ml.SparseQRRegressionModel");
    for (SparseQRRegressionModel saved : List.of(model, named)) {
      String path = folder.resolve(saved.getClass().getName()).toString();
      saved.save(path);
      var back = SparseQRRegressionModel.load(path);
      assertThat(back.getClass().getName()).isEqualTo("sparqr.ml.SparseQRRegressionModel");
      assertThat(back.copy(ParamMap.empty()).getClass()).isEqualTo(back.getClass());
      assertThat(back.coefficients()).isEqualTo(model.coefficients());
      assertThat(back.explainParams()).isEqualTo(model.explainParams());
    }
    assertThatThrownBy(() -> SparseQRRegressionModel.load(one))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sparqr.ml.SparseQRRegression, not a SparseQRRegressionModel");
  }

  @Sampled(oneIn = 3)
  @Test
  void isAStageOfAPipelineAndOfATunedOne(@TempDir Path folder) throws IOException {
    Dataset<Row> data = SAMPLE.data().withColumnRenamed("features", "raw");
    var assembler =
        new VectorAssembler().setInputCols(new String[] {"raw"}).setOutputCol("features");
    var regression = new SparseQRRegression();
    var pipeline = new Pipeline().setStages(new PipelineStage[] {assembler, regression});
    var tuned =
        new CrossValidator()
            .setEstimator(pipeline)
            .setEvaluator(new RegressionEvaluator().setMetricName("rmse"))
            .setEstimatorParamMaps(
                new ParamGridBuilder()
                    .addGrid(regression.regParam(), new double[] {0, 1000})
                    .build())
            .setNumFolds(2)
            .setSeed(3);
    CrossValidatorModel model = tuned.fit(data);
    assertThat(model.avgMetrics()[0]).isLessThan(model.avgMetrics()[1]);
    var best = (PipelineModel) model.bestModel();
    var fitted = (SparseQRRegressionModel) best.stages()[1];
    assertThat(fitted.getRegParam()).isZero();
    assertThat(fitted.parent()).isInstanceOf(SparseQRRegression.class);
    assertThat(fitted.summary().r2()).isGreaterThan(0.8);

    model.write().save(folder.resolve("tuned").toString());
    var loaded = CrossValidatorModel.load(folder.resolve("tuned").toString());
    var again = (SparseQRRegressionModel) ((PipelineModel) loaded.bestModel()).stages()[1];
    assertThat(again.coefficients()).isEqualTo(fitted.coefficients());
  }

  @Test
  void leavesNothingPersisted() {
    var context = LocalSpark.session().sparkContext();
    int before = context.getPersistentRDDs().size();
    new SparseQRRegression().setRegParam(0.1).fit(SAMPLE.data());
    assertThat(context.getPersistentRDDs().size()).isEqualTo(before);
  }

  @Test
  void sparkConnectFindsBoth() {
    assertThat(ServiceLoader.load(Estimator.class).stream().map(ServiceLoader.Provider::type))
        .anyMatch(SparseQRRegression.class::equals);
    var found =
        ServiceLoader.load(Transformer.class).stream()
            .filter(p -> p.type().equals(SparseQRRegressionModel.class))
            .findFirst()
            .orElseThrow();
    assertThat(found.get()).isInstanceOf(SparseQRRegressionModel.class);
  }
}
