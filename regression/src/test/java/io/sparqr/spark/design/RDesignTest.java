/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.SampledCases;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Names and entries as R's model.matrix has them: src/test/r/design.R. */
@Tag("once")
class RDesignTest {

  /** R's model matrix of a formula. */
  record Expected(String formula, List<String> names, double[][] rows) {
    @Override
    public String toString() {
      return formula;
    }
  }

  private static Path resource(String name) {
    try {
      return Path.of(RDesignTest.class.getResource("/r/" + name).toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static Dataset<Row> read;

  private static synchronized Dataset<Row> data() {
    if (read == null) {
      List<Row> rows = file().collectAsList();
      read = LocalSpark.session().createDataFrame(rows, file().schema()).coalesce(1);
    }
    return read;
  }

  private static Dataset<Row> file() {
    return LocalSpark.session()
        .read()
        .option("header", true)
        .option("inferSchema", true)
        .csv(resource("design.csv").toString());
  }

  static Stream<Expected> expected() throws IOException {
    var all = new ArrayList<Expected>();
    List<String> lines = Files.readAllLines(resource("design.txt"));
    int at = 0;
    while (at < lines.size()) {
      String formula = lines.get(at++);
      List<String> names = List.of(lines.get(at++).split(" "));
      var rows = new ArrayList<double[]>();
      while (at < lines.size() && !lines.get(at).contains("~")) {
        rows.add(
            Arrays.stream(lines.get(at++).trim().split(" "))
                .mapToDouble(Double::parseDouble)
                .toArray());
      }
      all.add(new Expected(formula, names, rows.toArray(new double[0][])));
    }
    return all.stream();
  }

  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @MethodSource("expected")
  void isThatOfR(Expected r) {
    Dataset<Row> data = data();
    Design design = Design.of(data, DesignOptions.builder().formula(r.formula()).build());
    var names = new ArrayList<>(design.names());
    if (design.hasIntercept()) {
      names.add(0, names.remove(names.size() - 1));
    }
    assertThat(names).as(r.formula()).isEqualTo(r.names());
    List<SparseRow> rows = design.rows(data).rows().collect();
    assertThat(rows).hasSize(r.rows().length);
    for (int i = 0; i < r.rows().length; i++) {
      double[] dense = dense(rows.get(i), design);
      for (int j = 0; j < dense.length; j++) {
        double wanted = r.rows()[i][j];
        assertThat(Math.abs(dense[j] - wanted))
            .as("%s, row %d, %s: %s and %s", r.formula(), i, names.get(j), dense[j], wanted)
            .isLessThanOrEqualTo(4 * Math.ulp(wanted));
      }
    }
  }

  /** The intercept first, as R has it. */
  private static double[] dense(SparseRow row, Design design) {
    var dense = new double[design.columns()];
    int shift = design.hasIntercept() ? 1 : 0;
    for (int k = 0; k < row.indices().length; k++) {
      int j = row.indices()[k];
      dense[j == design.columns() - 1 && shift == 1 ? 0 : j + shift] = row.values()[k];
    }
    return dense;
  }

  @Test
  void asManyFormulasAsTheScriptHas() throws IOException {
    assertThat(expected().count()).isGreaterThan(45);
  }
}
