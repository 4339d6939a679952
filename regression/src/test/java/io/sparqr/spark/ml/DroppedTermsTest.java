/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.LocalSpark;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/**
 * Coefficients of dependent columns: those dropped, by name, and the combinations that they are.
 */
class DroppedTermsTest {

  /** c = a + 2 b, d constant. */
  private static Dataset<Row> data() {
    var random = new Random(5);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      double a = random.nextInt(9);
      double b = random.nextGaussian();
      double c = a + 2 * b;
      double y = 3 + a - b + random.nextGaussian();
      rows.add(RowFactory.create(y, a, b, c, 7.0, Vectors.dense(a, b, c)));
    }
    return LocalSpark.session()
        .createDataFrame(
            rows,
            new StructType()
                .add("y", "double")
                .add("a", "double")
                .add("b", "double")
                .add("c", "double")
                .add("d", "double")
                .add("features", SQLDataTypes.VectorType()));
  }

  private static Map<String, Map<String, Double>> dependencies(SparseQRRegressionSummary s) {
    var all = new TreeMap<String, Map<String, Double>>();
    for (Row r : s.dependencies().collectAsList()) {
      all.computeIfAbsent(r.getString(0), k -> new TreeMap<>()).put(r.getString(1), r.getDouble(2));
    }
    return all;
  }

  @Test
  void theLaterGoAndTheInterceptStays() {
    var s = new SparseQRRegression().setFormula("y ~ a + b + c + d").fit(data()).summary();
    assertThat(s.deadNames()).containsExactly("c", "d");
    var made = dependencies(s);
    assertThat(made.keySet()).containsExactly("c", "d");
    assertThat(made.get("c").get("a")).isCloseTo(1, within(Tolerances.REORDERED));
    assertThat(made.get("c").get("b")).isCloseTo(2, within(Tolerances.REORDERED));
    assertThat(made.get("d").get("(Intercept)")).isCloseTo(7, within(Tolerances.REORDERED));
  }

  @Test
  void theUserSaysWhatStays() {
    Dataset<Row> data = data();
    var lm = new SparseQRRegression().setFormula("y ~ a + b + c + d");
    var plain = lm.fit(data).summary();
    var kept = lm.setKeepTerms("c", "d").fit(data).summary();
    // The intercept comes before all terms to keep.
    assertThat(kept.deadNames()).containsExactly("b", "d");
    var dropped = lm.setKeepTerms().setDropTerms("(Intercept)", "a").fit(data).summary();
    assertThat(dropped.deadNames()).containsExactlyInAnyOrder("a", "(Intercept)");
    assertThat(dependencies(dropped).get("(Intercept)").get("d"))
        .isCloseTo(1 / 7.0, within(Tolerances.REORDERED));
    for (var s : List.of(kept, dropped)) {
      assertThat(s.sigma()).isCloseTo(plain.sigma(), within(Tolerances.REORDERED * plain.sigma()));
      assertThat(s.rank()).isEqualTo(plain.rank());
    }
  }

  @Test
  void vectorsToo() {
    var lm = new SparseQRRegression().setLabelCol("y");
    assertThat(lm.fit(data()).summary().deadColumns()).containsExactly(2);
    assertThat(lm.setDropTerms("features_0").fit(data()).summary().deadColumns())
        .containsExactly(0);
    assertThat(
            lm.setComputeStandardErrors(false)
                .setDropTerms("features_1")
                .fit(data())
                .summary()
                .deadColumns())
        .containsExactly(1);
  }

  @Test
  void aTermThatIsNoneIsRefused() {
    assertThatThrownBy(
            () -> new SparseQRRegression().setFormula("y ~ a").setKeepTerms("z").fit(data()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no column \"z\" among the coefficients, to keep or to drop");
  }
}
