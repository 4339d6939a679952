/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.LocalSpark;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.feature.OneHotEncoder;
import org.apache.spark.ml.feature.StringIndexer;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Formulas and factors instead of vectors give the same fit as dummies made by hand. */
@Tag("once")
class FormulaRegressionTest {

  private static final long SEED = 77;

  private static final StructType SCHEMA =
      new StructType()
          .add("wage", "double")
          .add("age", "double")
          .add("hours", "double")
          .add("worker", "int")
          .add("firm", "string")
          .add("w", "double");

  private static Dataset<Row> data;

  @BeforeAll
  static void makeData() {
    var random = new Random(SEED);
    var rows = new ArrayList<Row>();
    for (int i = 0; i < 400; i++) {
      int worker = random.nextInt(12);
      int firm = random.nextInt(5);
      double age = 20 + random.nextInt(40);
      double hours = random.nextDouble();
      double wage = Math.sin(worker) + 0.3 * firm + 0.02 * age + hours + random.nextGaussian();
      rows.add(RowFactory.create(wage, age, hours, worker, "f" + firm, 0.5 + random.nextDouble()));
    }
    data = LocalSpark.session().createDataFrame(rows, SCHEMA).repartition(3).cache();
  }

  @AfterAll
  static void release() {
    data.unpersist(true);
  }

  /** The dummies by Spark's encoders, in our order: ages, workers, firms. */
  private static Dataset<Row> byHand(String label) {
    var worker =
        new StringIndexer()
            .setInputCol("worker2")
            .setOutputCol("wi")
            .setStringOrderType("alphabetDesc");
    var firm =
        new StringIndexer()
            .setInputCol("firm")
            .setOutputCol("fi")
            .setStringOrderType("alphabetDesc");
    // descending, so that the last one, which is dropped, is the first level
    var dummies =
        new OneHotEncoder()
            .setInputCols(new String[] {"wi", "fi"})
            .setOutputCols(new String[] {"wd", "fd"});
    var all =
        new VectorAssembler()
            .setInputCols(new String[] {"age", "wd", "fd"})
            .setOutputCol("features");
    Dataset<Row> padded =
        data.withColumn("worker2", functions.expr("lpad(worker, 3, '0')"))
            .withColumn("label", functions.expr(label));
    return new Pipeline()
        .setStages(new PipelineStage[] {worker, firm, dummies, all})
        .fit(padded)
        .transform(padded);
  }

  private static SparseQRRegression formula(String text) {
    return new SparseQRRegression().setFormula(text).setWeightCol("w");
  }

  private static void assertSame(SparseQRRegressionModel a, SparseQRRegressionModel hand) {
    double[] x = a.coefficients().toArray();
    double[] y = hand.coefficients().toArray();
    double[] e = a.summary().coefficientStandardErrors();
    double[] f = hand.summary().coefficientStandardErrors();
    assertThat(x).hasSameSizeAs(y);
    assertThat(a.intercept()).isCloseTo(hand.intercept(), within(Tolerances.SOLUTION));
    for (int j = 0; j < x.length; j++) {
      // the workers' and the firms' dummies come in descending order by hand
      int k = j == 0 ? 0 : j <= 11 ? 12 - j : 27 - j;
      assertThat(x[j]).as("seed %d, %d", SEED, j).isCloseTo(y[k], within(Tolerances.SOLUTION));
      assertThat(e[j]).as("seed %d, %d", SEED, j).isCloseTo(f[k], within(Tolerances.SOLUTION));
    }
    assertThat(a.summary().r2adj()).isCloseTo(hand.summary().r2adj(), within(Tolerances.SOLUTION));
  }

  @Test
  void isTheFitOfDummiesMadeByHand() {
    var hand = new SparseQRRegression().setWeightCol("w").fit(byHand("wage"));
    var model = formula("wage ~ age + factor(worker) + firm").fit(data);
    assertSame(model, hand);
    assertThat(model.summary().labelCol()).isEqualTo("wage");
    var names = model.summary().coefficientNames();
    assertThat(names.get(0)).isEqualTo("age");
    assertThat(names.get(1)).isEqualTo("factor(worker)1");
    assertThat(names.get(12)).isEqualTo("firmf1");
    assertThat(names.get(16)).isEqualTo("(Intercept)");
    assertSame(formula("wage ~ age + worker + firm").setCategoricalCols("worker").fit(data), hand);
    var columns =
        new SparseQRRegression()
            .setFeaturesCol("age")
            .setLabelCol("wage")
            .setWeightCol("w")
            .setCategoricalCols("worker", "firm");
    assertSame(columns.fit(data), hand);
    assertSame(
        formula("~ age + factor(worker) + firm").setLabelCol("wage").setRegParam(0.01).fit(data),
        new SparseQRRegression().setWeightCol("w").setRegParam(0.01).fit(byHand("wage")));
  }

  @Test
  void anOffsetIsTakenOffAndAddedAgain() {
    var hand = new SparseQRRegression().setWeightCol("w").fit(byHand("wage - 3 * hours"));
    Dataset<Row> tripled = data.withColumn("h3", functions.expr("3 * hours"));
    var model = formula("wage ~ age + factor(worker) + firm + offset(h3)").fit(tripled);
    assertSame(model, hand);
    var other = formula("wage ~ age + factor(worker) + firm").setOffsetCol("h3").fit(tripled);
    assertSame(other, hand);
    List<Row> ours = model.transform(tripled).select("prediction", "h3").collectAsList();
    List<Row> theirs = hand.transform(byHand("wage")).select("prediction").collectAsList();
    for (int i = 0; i < ours.size(); i++) {
      double wanted = theirs.get(i).getDouble(0) + ours.get(i).getDouble(1);
      assertThat(ours.get(i).getDouble(0))
          .as("row %d", i)
          .isCloseTo(wanted, within(Tolerances.SOLUTION));
    }
    double worst =
        model.summary().residuals().agg(functions.expr("max(abs(residuals))")).first().getDouble(0);
    assertThat(worst).isLessThan(6);
  }

  @Test
  void anotherReferenceLevelIsAnotherParametrizationOfTheSameFit() {
    var model = formula("wage ~ age * firm + factor(worker)").fit(data);
    var other =
        formula("wage ~ age * firm + worker")
            .setCategoricalCols("worker")
            .setReferenceLevels("firm=f3", "worker=7")
            .fit(data);
    assertThat(other.summary().coefficientNames())
        .contains("firmf0", "age:firmf0", "worker0")
        .doesNotContain("firmf3", "age:firmf3", "worker7");
    assertThat(other.summary().r2()).isCloseTo(model.summary().r2(), within(Tolerances.SOLUTION));
    var both =
        other
            .setPredictionCol("q")
            .transform(model.transform(data))
            .agg(functions.expr("max(abs(prediction - q))"));
    assertThat(both.first().getDouble(0)).isLessThan(Tolerances.SOLUTION);
  }

  @Test
  void absorbedFactorsLeaveTheRestAsItIs() {
    var dummies = formula("wage ~ age + hours + factor(worker) + firm").fit(data);
    var absorbed = formula("wage ~ age + hours | worker + firm").fit(data);
    for (int j = 0; j < 2; j++) {
      assertThat(absorbed.coefficients().apply(j))
          .isCloseTo(dummies.coefficients().apply(j), within(Tolerances.SOLUTION));
      assertThat(absorbed.summary().coefficientStandardErrors()[j])
          .isCloseTo(dummies.summary().coefficientStandardErrors()[j], within(Tolerances.SOLUTION));
    }
    assertThat(absorbed.intercept()).isZero();
    assertThat(absorbed.summary().rank()).isEqualTo(dummies.summary().rank());
    assertThat(absorbed.summary().r2())
        .isCloseTo(dummies.summary().r2(), within(Tolerances.SOLUTION));
  }

  @Test
  void deadColumnsHaveNames() {
    Dataset<Row> twice = data.withColumn("months", functions.expr("12 * age"));
    var s = formula("wage ~ age + months + firm").fit(twice).summary();
    assertThat(s.deadColumns()).hasSize(1);
    assertThat(s.deadNames()).hasSize(1).isSubsetOf("age", "months");
  }

  @Sampled(oneIn = 3)
  @Test
  void comesBackFromFiles(@TempDir Path folder) throws IOException {
    Dataset<Row> holes =
        data.withColumn("firm", functions.expr("if(age = 33, null, firm)"))
            .withColumn("flag", functions.expr("hours > 0.5"));
    var estimator =
        formula("wage ~ . - w - hours + factor(worker):flag + offset(hours)")
            .setReferenceLevels("firm=f2")
            .setHandleInvalid("keep");
    String path = folder.resolve("estimator").toString();
    estimator.save(path);
    var again = SparseQRRegression.load(path);
    assertThat(again.getFormula()).isEqualTo(estimator.getFormula());
    assertThat(again.getReferenceLevels()).containsExactly("firm=f2");
    assertThat(again.getHandleInvalid()).isEqualTo("keep");
    var model = estimator.fit(holes);
    String saved = folder.resolve("model").toString();
    model.save(saved);
    var loaded = SparseQRRegressionModel.load(saved);
    assertThat(loaded.getClass().getName()).isEqualTo("sparqr.ml.SparseQRRegressionModel");
    assertThat(loaded.getFormula()).isEqualTo(model.getFormula());
    assertThat(loaded.transform(holes).select("prediction").collectAsList())
        .isEqualTo(model.transform(holes).select("prediction").collectAsList());
    assertThat(loaded.coefficientNames()).isEqualTo(model.summary().coefficientNames());
    assertThat(loaded.coefficientNames()).contains("firmNA", "firmf0", "flagTRUE:factor(worker)3");
    // of other columns than the fit had
    Dataset<Row> more = holes.withColumn("new", functions.lit("x")).drop("wage");
    assertThat(loaded.copy(ParamMap.empty()).transform(more).count()).isEqualTo(400);
    assertThatThrownBy(() -> loaded.transform(more.drop("firm")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no column firm");
  }

  /** The id names rows of a fit; new rows need none. */
  @Test
  void predictionsNeedNoIdColumn() {
    var model = formula("wage ~ age + firm").setIdCol("worker").fit(data);
    List<Double> with = predictions(model.transform(data));
    assertThat(predictions(model.transform(data.drop("worker"))))
        .isEqualTo(with)
        .doesNotContainNull();
  }

  private static List<Double> predictions(Dataset<Row> of) {
    return of.select("prediction").as(Encoders.DOUBLE()).collectAsList();
  }

  @Test
  void invalidRows() {
    Dataset<Row> holes =
        data.withColumn("age", functions.expr("if(age = 33, double('NaN'), age)"))
            .withColumn("firm", functions.expr("if(worker = 5, null, firm)"));
    Dataset<Row> whole = holes.where("firm is not null and not isnan(age)");
    var model = formula("wage ~ age + firm").setHandleInvalid("skip").fit(holes);
    var clean = formula("wage ~ age + firm").fit(whole);
    assertThat(model.coefficients().toArray())
        .usingComparatorWithPrecision(Tolerances.SOLUTION)
        .containsExactly(clean.coefficients().toArray());
    assertThat(model.summary().numInstances()).isEqualTo(whole.count());
    assertThat(model.transform(holes).count()).isEqualTo(whole.count());
    assertThatThrownBy(() -> formula("wage ~ age + hours").setIdCol("worker").fit(holes))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining(": age is NaN (wage = ")
        .hasMessageContaining("worker = ");
    // vectors with skip
    Dataset<Row> vectors =
        new VectorAssembler()
            .setInputCols(new String[] {"age", "hours"})
            .setOutputCol("features")
            .setHandleInvalid("keep")
            .transform(holes);
    var skipped =
        new SparseQRRegression().setLabelCol("wage").setHandleInvalid("skip").fit(vectors);
    assertThat(skipped.summary().numInstances()).isEqualTo(holes.where("not isnan(age)").count());
    assertThatThrownBy(() -> new SparseQRRegression().setLabelCol("wage").fit(vectors))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("(feature age)")
        .hasMessageContaining("features = [NaN,");
  }

  @Test
  void wrongParams() {
    assertThatThrownBy(() -> new SparseQRRegression().setHandleInvalid("drop"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> formula("wage ~ firm").setReferenceLevels("firm").fit(data))
        .hasMessageContaining("\"firm\" is not of the form column=level");
    assertThatThrownBy(() -> formula("wage ~ firm").setReferenceLevels("firm=x").fit(data))
        .hasMessageContaining("no row has \"x\"; of 5 levels the first are f0, f1, f2, f3, f4");
    assertThatThrownBy(() -> formula("wage ~ age").setPredictionCol("w").fit(data))
        .hasMessageContaining("a column w exists already");
  }
}
