/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.matrix.MatrixMarket;
import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files as people have them: names, byte order marks, number formats, tables written by other
 * programs.
 */
@Tag("once")
class InputNamesTest {

  private static final String HEAD = "%%MatrixMarket matrix coordinate real general\n";
  private static final String ENTRIES = "1 1 1\n2 1 1\n2 2 1\n3 1 1\n3 2 2\n";
  private static final String TABLE = "0,0,1\n1,0,1\n1,1,1\n2,0,1\n2,1,2\n";

  private static SparkSession spark;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    spark = CliRun.session();
  }

  /** b = (1, 3, 6) and A = (1 0; 1 1; 1 2): x = (5/6, 5/2). */
  private void assertSolves(String name, String... options) throws IOException {
    Files.writeString(
        folder.resolve("b.mtx"), "%%MatrixMarket matrix array real general\n3 1\n1\n3\n6\n");
    Path out = folder.resolve("x.mtx");
    Object[] all = new Object[options.length + 8];
    Object[] head = {
      "solve", "--matrix", folder + "/" + name, "--rhs", folder + "/b.mtx", "--out", out
    };
    System.arraycopy(head, 0, all, 0, head.length);
    all[head.length] = "--overwrite";
    System.arraycopy(options, 0, all, head.length + 1, options.length);
    CliRun run = CliRun.of(all);
    assertThat(run.code()).as(run.err()).isZero();
    double[] x = MatrixMarket.readDense(out).values();
    assertThat(x).hasSize(2);
    assertThat(x[0]).isCloseTo(5.0 / 6, within(Tolerances.roundings(16, 1)));
    assertThat(x[1]).isCloseTo(2.5, within(Tolerances.roundings(16, 2.5)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b[1]{2}%20*?,.mtx", "a\\c.mtx"})
  void bracketsAndBlanksAreCharactersOfAName(String name) throws IOException {
    Files.writeString(folder.resolve(name), HEAD + "3 2 5\n" + ENTRIES);
    assertSolves(name);
    assertSolves(name, "--reader", "executors");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b[1]{2}%20*?,.csv"})
  void bracketsAndBlanksAreCharactersOfATablesName(String name) throws IOException {
    Files.writeString(folder.resolve(name), TABLE);
    assertSolves(name);
  }

  @Test
  void aByteOrderMarkIsNoPartOfTheText() throws IOException {
    Files.writeString(folder.resolve("a.mtx"), "\ufeff" + HEAD + "3 2 5\n" + ENTRIES);
    assertSolves("a.mtx");
    assertSolves("a.mtx", "--reader", "executors");
    // Without an ending the banner tells the format, behind the mark.
    Files.move(folder.resolve("a.mtx"), folder.resolve("noending"));
    assertSolves("noending");
    Files.writeString(folder.resolve("a.csv"), "\ufeff" + TABLE);
    assertSolves("a.csv");
    Files.writeString(folder.resolve("h.csv"), "\ufeffrow,column,value\r\n" + TABLE);
    assertSolves("h.csv");
    Files.writeString(folder.resolve("a.svm"), "\ufeff1 1:1\n3 1:1 2:1\n6 1:1 2:2\n");
    assertSolves("a.svm");
    assertSolves("a.svm", "--reader", "executors");
  }

  /** R writes 100000 as 1e+05, sizes and indices included. */
  @Test
  void wholeNumbersMayHaveAnExponent() throws IOException {
    Files.writeString(
        folder.resolve("a.mtx"),
        HEAD + "3e+00 2e0 5e+00\n1 1 1\n2e0 1 1\n2 2 1\n3 1e+00 1\n3 2.0E0 2\n");
    assertSolves("a.mtx");
    assertSolves("a.mtx", "--reader", "executors");
    Files.writeString(folder.resolve("a.csv"), TABLE.replace("2,1,", "2e+00,1e0,"));
    assertSolves("a.csv");
    Files.writeString(folder.resolve("large.mtx"), HEAD + "1e+05 2 2\n1 1 1\n1e+05 2 1\n");
    CliRun run = CliRun.of("solve", "--matrix", folder.resolve("large.mtx"));
    assertThat(run.out()).as(run.err()).contains("100,000 x 2");
  }

  @Test
  void aQueryNumberIsNoFeature() throws IOException {
    Files.writeString(folder.resolve("a.svm"), "1 qid:7 1:1\n3 qid:7 1:1 2:1\n6 qid:8 1:1 2:2\n");
    assertSolves("a.svm");
    assertSolves("a.svm", "--reader", "executors");
  }

  @Test
  void tablesMayCountFromOne() throws IOException {
    Files.writeString(folder.resolve("a.csv"), "1,1,1\n2,1,1\n2,2,1\n3,1,1\n3,2,2\n");
    assertSolves("a.csv", "--index-base", "1");
    CliRun analysis =
        CliRun.of("analyze", "--matrix", folder.resolve("a.csv"), "--index-base", "1");
    assertThat(analysis.out()).as(analysis.err()).contains("3 x 2");
  }

  /** Row and column 0 are empty on purpose. */
  @Test
  void anEmptyRowAndColumnMayBeMeant() throws IOException {
    Files.writeString(folder.resolve("a.csv"), "1,1,1\n2,1,1\n");
    CliRun run = CliRun.of("solve", "--matrix", folder.resolve("a.csv"), "--index-base", 0);
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).contains("3 x 2", "1 of 2");
  }

  @Test
  void aFolderOfPartsNeedsNoEnding() throws IOException {
    spark
        .read()
        .schema("row BIGINT, column BIGINT, value DOUBLE")
        .csv(csv().toString())
        .write()
        .parquet(folder.resolve("parts[1]").toString());
    assertSolves("parts[1]");
    assertSolves("parts[1]/");
    Path csvParts = Files.createDirectories(folder.resolve("out"));
    Files.writeString(csvParts.resolve("part-0.csv"), TABLE.substring(0, 6));
    Files.writeString(csvParts.resolve("part-1.csv"), TABLE.substring(6));
    assertSolves("out");
  }

  private Path csv() throws IOException {
    return Files.write(folder.resolve("t.csv"), TABLE.getBytes(StandardCharsets.UTF_8));
  }

  private CliRun parquet(String name, String values) {
    Path file = folder.resolve(name);
    spark
        .sql("select * from values " + values + " as t(row, column, value)")
        .coalesce(1)
        .write()
        .parquet(file.toString());
    return CliRun.of("solve", "--matrix", file);
  }

  @Test
  void fractionsAreNoIndices() {
    CliRun half = parquet("half[1].parquet", "(0.0D, 0L, 1.0D), (0.5D, 0L, 2.0D)");
    assertThat(half.code()).isEqualTo(1);
    assertThat(half.err())
        .containsPattern(
            "half\\[1]\\.parquet/part-\\S+: row and column must be whole numbers, the entry is"
                + " \\(0\\.5, 0, 2\\.0\\)");
    CliRun decimal = parquet("decimal.parquet", "(0.0BD, 0L, 1.0D), (1.0BD, 0.25BD, 2.0D)");
    assertThat(decimal.err()).contains("row and column must be whole numbers");
    CliRun infinite = parquet("inf.parquet", "(0D, 0L, 1D), (double('Infinity'), 0L, 2D)");
    assertThat(infinite.err()).contains("the entry is (Infinity, 0, 2.0)");
    CliRun nan = parquet("nan.parquet", "(0D, 0L, 1D), (double('NaN'), 0L, 2D)");
    assertThat(nan.err()).contains("the entry is (NaN, 0, 2.0)");
  }

  @Test
  void wholeNumbersOfAnyTypeAreIndices() {
    CliRun whole = parquet("whole.parquet", "(0.0D, 0BD, 1.0f), (1.0D, 1BD, 2.0f)");
    assertThat(whole.code()).as(whole.err()).isZero();
    assertThat(whole.out()).contains("2 x 2");
    CliRun least = parquet("least.parquet", "(0L, 0L, 1D), (-9223372036854775807L - 1, 0L, 1D)");
    assertThat(least.err()).contains("row and column must be whole numbers");
  }

  @Test
  void wordsAreNoIndicesAndNoValues() {
    CliRun row = parquet("words.parquet", "('0', 0L, 1.0D), ('x', 0L, 2.0D)");
    assertThat(row.code()).isEqualTo(1);
    assertThat(row.err()).contains("words.parquet: column 'row' is of type string, not a number");
    CliRun value = parquet("truth.parquet", "(0L, 0L, true)");
    assertThat(value.err()).contains("column 'value' is of type boolean, not a number");
  }
}
