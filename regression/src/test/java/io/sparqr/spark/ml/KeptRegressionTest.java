/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.inference.Anova;
import io.sparqr.spark.inference.ContrastTest;
import io.sparqr.spark.inference.HcType;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.inference.Influence;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** A regression whose factorization is kept: statistics by name, and nothing left behind. */
class KeptRegressionTest {

  private static Dataset<Row> data() {
    var random = new Random(8);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 90; i++) {
      double x = random.nextGaussian();
      int firm = random.nextInt(6);
      rows.add(RowFactory.create(2 + x + 0.3 * firm + random.nextGaussian(), x, "f" + firm));
    }
    return LocalSpark.session()
        .createDataFrame(
            rows, new StructType().add("y", "double").add("x", "double").add("firm", "string"));
  }

  private static int persisted() {
    return LocalSpark.context().getPersistentRDDs().size();
  }

  @Test
  void statisticsByName() {
    int before = persisted();
    Dataset<Row> data = data();
    try (KeptRegression large = new SparseQRRegression().setFormula("y ~ x + firm").fitKept(data);
        KeptRegression small = new SparseQRRegression().setFormula("y ~ x").fitKept(data)) {
      SparseQRRegressionSummary s = large.model().summary();
      Inference inference = large.inference();
      int x = large.column("x");
      double error = s.coefficientStandardErrors()[x];
      assertThat(inference.covariance(x)[0][0])
          .isCloseTo(error * error, within(Tolerances.REORDERED * error * error));
      // Firm 2 against firm 3: the same by the reference's choice.
      SparseRow difference = large.contrast(Map.of("firmf2", 1.0, "firmf3", -1.0), 0);
      ContrastTest test = inference.contrasts(List.of(difference)).get(0);
      var other =
          new SparseQRRegression()
              .setFormula("y ~ x + firm")
              .setReferenceLevels("firm=f3")
              .fit(data)
              .summary();
      int two = other.coefficientNames().indexOf("firmf2");
      assertThat(test.standardError())
          .isCloseTo(other.coefficientStandardErrors()[two], within(Tolerances.REORDERED));
      // All firms at once: the same F by Wald and by comparison.
      List<SparseRow> firms = new ArrayList<>();
      for (int f = 1; f < 6; f++) {
        firms.add(large.contrast(Map.of("firmf" + f, 1.0), 0));
      }
      Anova anova = Anova.of(small.inference(), inference);
      assertThat(inference.waldTest(firms).f())
          .isCloseTo(anova.f(), within(Tolerances.ILL_CONDITIONED * anova.f()));
      double sum = inference.influence().collect().stream().mapToDouble(Influence::leverage).sum();
      assertThat(sum).isCloseTo(s.rank(), within(Tolerances.RANDOM));
      assertThat(inference.robust(HcType.HC3, x).standardErrors()[0]).isPositive();
      assertThat(persisted()).isGreaterThan(before);
      assertThatThrownBy(() -> large.column("firmf0"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("no coefficient \"firmf0\"");
    }
    assertThat(persisted()).isEqualTo(before);
    assertThatThrownBy(
            () -> new SparseQRRegression().setFormula("y ~ x").setRegParam(1).fitKept(data))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(persisted()).isEqualTo(before);
  }

  @Test
  void absorbedEffectsOnRequest() {
    var dummiesModel = new SparseQRRegression().setFormula("y ~ x + firm").fit(data());
    var dummies = dummiesModel.summary();
    var absorbed = new SparseQRRegression().setFormula("y ~ x | firm").fit(data()).summary();
    List<Row> effects = absorbed.absorbedEffects().collectAsList();
    assertThat(effects).hasSize(6);
    double[] x = dummiesModel.coefficients().toArray();
    double intercept = dummiesModel.intercept();
    for (Row r : effects) {
      int at = dummies.coefficientNames().indexOf(r.getString(0));
      double expected = intercept + (at < 0 ? 0 : x[at]);
      assertThat(r.getDouble(1))
          .as(r.getString(0))
          .isCloseTo(expected, within(Tolerances.SOLUTION));
    }
    assertThat(dummies.absorbedEffects().collectAsList()).isEmpty();
  }
}
