/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** Levels, references, vectors, missing values, absorbed factors. */
class DesignTest {

  private static final StructType SCHEMA =
      new StructType()
          .add("y", "double")
          .add("x", "double")
          .add("worker", "bigint")
          .add("firm", "string")
          .add("n", "float")
          .add("on", "boolean")
          .add("id", "int");

  private static Dataset<Row> data(Row... rows) {
    return LocalSpark.session().createDataFrame(List.of(rows), SCHEMA).coalesce(1);
  }

  private static Row row(Object... values) {
    return RowFactory.create(values);
  }

  private static Dataset<Row> small() {
    return data(
        row(1.0, 0.5, 5_000_000_000L, "b", 0.1f, true, 1),
        row(2.0, 1.5, -7L, "a", 10f, false, 2),
        row(3.0, 2.5, 3L, "é", 2f, true, 3),
        row(4.0, 0.0, -7L, "b", 2f, false, 4));
  }

  private static Design design(Dataset<Row> data, String formula, String... categorical) {
    return Design.of(
        data, DesignOptions.builder().formula(formula).categorical(Set.of(categorical)).build());
  }

  private static String text(SparseRow row, Design design) {
    var text = new ArrayList<String>();
    for (int k = 0; k < row.indices().length; k++) {
      text.add(design.name(row.indices()[k]) + "=" + row.values()[k]);
    }
    return String.join(" ", text);
  }

  private static List<String> texts(Design design, Dataset<Row> data) {
    return design.rows(data).rows().collect().stream().map(r -> text(r, design)).toList();
  }

  @Test
  void levelsOfAllKindsAscend() {
    Dataset<Row> data = small();
    Design d = design(data, "y ~ 0 + worker + firm + n + on", "worker", "n");
    assertThat(d.names())
        .containsExactly(
            "worker-7", "worker3", "worker5000000000", "firmb", "firmé", "n2", "n10", "onTRUE");
    assertThat(texts(d, data))
        .containsExactly(
            "worker5000000000=1.0 firmb=1.0 onTRUE=1.0",
            "worker-7=1.0 n10=1.0",
            "worker3=1.0 firmé=1.0 n2=1.0 onTRUE=1.0",
            "worker-7=1.0 firmb=1.0 n2=1.0");
  }

  @Test
  void columnsOneByOneWithReferenceLevels() {
    Dataset<Row> data = small();
    var options =
        DesignOptions.builder()
            .columns(List.of("x", "worker", "firm", "on"))
            .categorical(Set.of("worker"))
            .references(Map.of("worker", "3", "firm", "é", "on", "TRUE"))
            .role(Role.LABEL, "y")
            .role(Role.WEIGHT, "n");
    Design d = Design.of(data, options.build());
    assertThat(d.names())
        .containsExactly(
            "x", "worker-7", "worker5000000000", "firma", "firmb", "onFALSE", "(Intercept)");
    assertThat(texts(d, data).get(3))
        .isEqualTo("worker-7=1.0 firmb=1.0 onFALSE=1.0 (Intercept)=1.0");
    SparseRow first = d.rows(data).rows().first();
    assertThat(first.weight()).isEqualTo(0.1f);
    assertThat(first.labels()).containsExactly(1.0);
    for (Map<String, String> wrong :
        List.of(Map.of("worker", "4"), Map.of("worker", "b"), Map.of("x", "1"))) {
      assertThatThrownBy(() -> Design.of(data, options.references(wrong).build()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(wrong.keySet().iterator().next());
    }
  }

  @Test
  void vectorsBringTheirNames() {
    Dataset<Row> data =
        new VectorAssembler()
            .setInputCols(new String[] {"x", "n"})
            .setOutputCol("v")
            .transform(small());
    Design d = design(data, "y ~ v + on:v");
    assertThat(d.names()).containsExactly("x", "n", "x:onTRUE", "n:onTRUE", "(Intercept)");
    assertThat(texts(d, data).get(2))
        .isEqualTo("x=2.5 n=2.0 x:onTRUE=2.5 n:onTRUE=2.0 (Intercept)=1.0");
    assertThat(texts(d, data).get(3)).as("sparse").isEqualTo("n=2.0 (Intercept)=1.0");
    // without attributes
    Dataset<Row> bare = LocalSpark.session().createDataFrame(data.javaRDD(), strip(data.schema()));
    assertThat(design(bare, "y ~ v").names()).containsExactly("v_0", "v_1", "(Intercept)");
  }

  private static StructType strip(StructType schema) {
    var bare = new StructType();
    for (var f : schema.fields()) {
      bare = bare.add(f.name(), f.dataType(), f.nullable());
    }
    return bare;
  }

  @Sampled(oneIn = 3)
  @Test
  void absorbedFactorsAreDummiesBehindTheRest() {
    Dataset<Row> data = small();
    Design d = design(data, "y ~ x + on | worker + firm");
    assertThat(d.hasIntercept()).isFalse();
    assertThat(d.reported()).isEqualTo(2);
    assertThat(d.names())
        .containsExactly(
            "x", "onTRUE", "worker-7", "worker3", "worker5000000000", "firmb", "firmé");
    assertThat(d.absorbed(1)).isFalse();
    assertThat(d.absorbed(2)).isTrue();
    assertThat(texts(d, data).get(0)).isEqualTo("x=0.5 onTRUE=1.0 worker5000000000=1.0 firmb=1.0");
    Design pairs = design(data, "y ~ x | worker:firm");
    assertThat(pairs.reported()).isEqualTo(1);
    // only combinations that occur
    assertThat(pairs.columns()).isEqualTo(5);
  }

  @Test
  void offsetsComeOffTheLabel() {
    Dataset<Row> data = small();
    var options =
        DesignOptions.builder().formula("y ~ 1 + offset(x) + offset(n)").role(Role.OFFSET, "id");
    SparseRow second = Design.of(data, options.build()).rows(data).rows().collect().get(1);
    assertThat(second.labels()).containsExactly(2.0 - 1.5 - 10 - 2);
  }

  @Test
  void whatIsMissing() {
    Dataset<Row> data =
        data(
            row(1.0, 0.5, 1L, "b", 1f, true, 1),
            row(2.0, Double.NaN, 2L, "c", 1f, true, 2),
            row(3.0, 1.5, null, "d", 1f, true, 3),
            row(4.0, 2.5, 4L, null, 1f, true, 4),
            row(5.0, 2.5, 4L, "b", 1f, true, 5));
    var options =
        DesignOptions.builder()
            .formula("y ~ x + worker + firm")
            .categorical(Set.of("worker"))
            .role(Role.ID, "id");
    assertThatThrownBy(() -> Design.of(data, options.build()).rows(data).rows().collect())
        .hasStackTraceContaining(
            "row 1 of partition 0: x is NaN (y = 2.0, x = NaN, worker = 2, firm = c, id = 2)");
    Dataset<Row> levels = data.where("id <> 2");
    assertThatThrownBy(() -> Design.of(levels, options.build()).rows(levels).rows().collect())
        .hasStackTraceContaining("worker is missing (y = 3.0, x = 1.5, worker = null, firm = d");
    Design skip = Design.of(data, options.handleInvalid(HandleInvalid.SKIP).build());
    assertThat(skip.names())
        .as("levels of rows that count")
        .containsExactly("x", "worker4", "(Intercept)");
    assertThat(texts(skip, data))
        .containsExactly("x=0.5 (Intercept)=1.0", "x=2.5 worker4=1.0 (Intercept)=1.0");
    Design keep = Design.of(levels, options.handleInvalid(HandleInvalid.KEEP).build());
    assertThat(keep.names())
        .containsExactly("x", "worker4", "workerNA", "firmd", "firmNA", "(Intercept)");
    assertThat(texts(keep, levels).subList(1, 3))
        .containsExactly(
            "x=1.5 workerNA=1.0 firmd=1.0 (Intercept)=1.0",
            "x=2.5 worker4=1.0 firmNA=1.0 (Intercept)=1.0");
    assertThatThrownBy(() -> Design.of(data, options.build()).rows(data).rows().collect())
        .as("a number is nothing to keep")
        .hasStackTraceContaining("x is NaN");
  }

  @Test
  void predictionsOfNewData() {
    Dataset<Row> data = small();
    Dataset<Row> fresh =
        data(
            row(null, 2.0, -7L, "b", 3f, true, 1),
            row(null, 2.0, 99L, "b", 3f, true, 2),
            row(null, 2.0, 3L, null, 3f, false, 3),
            row(null, null, 3L, "é", 3f, false, 4));
    var options =
        DesignOptions.builder()
            .formula("y ~ x + worker + firm + offset(n)")
            .categorical(Set.of("worker"))
            .role(Role.ID, "id");
    // x, worker3, worker5000000000, firmb, firmé, intercept
    double[] x = {10, 100, 1000, 10_000, 100_000, 0.5};
    Design error = Design.of(data, options.build());
    assertThat(error.predicted(fresh.limit(1), x, "p").select("p").first().getDouble(0))
        .isEqualTo(10_023.5);
    assertThatThrownBy(() -> error.predicted(fresh.limit(2), x, "p").collect())
        .hasStackTraceContaining("worker = 99 is a level that the fit has not seen")
        .hasStackTraceContaining("(offset = 3.0, x = 2.0, worker = 99, firm = b, id = 2)");
    Design skip = Design.of(data, options.handleInvalid(HandleInvalid.SKIP).build());
    assertThat(skip.predicted(fresh, x, "p").select("id").collectAsList())
        .containsExactly(RowFactory.create(1));
    Design keep = Design.of(data, options.handleInvalid(HandleInvalid.KEEP).build());
    assertThat(keep.predicted(fresh, x, "p").select("p").collectAsList())
        .extracting(r -> r.getDouble(0))
        .containsExactly(10_023.5, 10_023.5, 123.5, Double.NaN);
  }

  @Sampled(oneIn = 3)
  @Test
  void largeInteractionsHaveTheCombinationsThatRowsHave() {
    var random = new Random(4);
    var rows = new ArrayList<Row>();
    var seen = new TreeSet<String>();
    for (int i = 0; i < 900; i++) {
      long worker = random.nextInt(400);
      int firm = random.nextInt(300);
      rows.add(row(1.0, i * 1.0, worker, "f" + firm, 1f, true, i));
      seen.add("worker" + worker + ":firmf" + firm);
    }
    Dataset<Row> data = LocalSpark.session().createDataFrame(rows, SCHEMA).repartition(3);
    Design d = design(data, "y ~ 0 + worker:firm", "worker");
    assertThat(new TreeSet<>(d.names())).isEqualTo(seen);
    for (Row r : data.collectAsList().subList(0, 50)) {
      Dataset<Row> one = LocalSpark.session().createDataFrame(List.of(r), SCHEMA);
      assertThat(texts(d, one))
          .containsExactly("worker" + r.getLong(2) + ":firm" + r.getString(3) + "=1.0");
    }
  }

  @Test
  void errorsNameTokenAndPlace() {
    Dataset<Row> data = small();
    for (String[] c :
        new String[][] {
          {"y ~ x + * on", "\"*\" where a term should stand, at character 9"},
          {"y ~ x +", "the end where a term should stand, at character 8"},
          {"y x", "\"x\" where \"~\" should stand, at character 3"},
          {"y ~ sin(x)", "the function \"sin\" is not known here"},
          {"y ~ (x + on", "the end where \")\" should stand, at character 12"},
          {"y ~ x # on", "unexpected \"#\", at character 7"},
          {"y ~ `x", "a backtick without another one, at character 5"},
          {"y ~ x | worker * firm", "\"*\" where an operator or the end should stand"},
          {"y ~ x | log(n)", "log(n) is not a factor, at character 9"},
          {"y ~ x:offset(n)", "an offset stands for itself"},
          {"y ~ x^0", "\"0\" where a whole power"},
          {"y ~ wage", "no column wage; there are y, x, worker"},
          {"firm ~ x", "firm: column firm of type string is not a number"},
        }) {
      assertThatThrownBy(() -> design(data, c[0]))
          .as(c[0])
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(c[1]);
    }
  }

  @Test
  void errorsAreOfTheirTypes() {
    Dataset<Row> data = data(row(1.0, Double.POSITIVE_INFINITY, null, "b", 1f, true, 1));
    assertThatThrownBy(() -> design(data, "y ~ x").rows(data).rows().collect())
        .hasRootCauseInstanceOf(NonFiniteValueException.class);
    assertThatThrownBy(() -> design(data, "y ~ 1 | worker").rows(data).rows().collect())
        .hasRootCauseInstanceOf(MatrixFormatException.class);
    assertThat(Arrays.asList(HandleInvalid.names().toArray()))
        .containsExactly("error", "skip", "keep");
  }
}
