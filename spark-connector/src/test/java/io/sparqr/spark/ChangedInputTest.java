/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sparqr.SampledCases;
import io.sparqr.configuration.Keys;
import io.sparqr.error.InputChangedException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.ChangingRows.Change;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Any change between two readings of the input gives one clear error, at whichever reading. */
@Tag("once")
class ChangedInputTest {

  private static final long SEED = Long.getLong("test.seed", 20260401L);
  private static final CsrMatrix A = Problems.withSingletons(Problems.grid(9, SEED), 3, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final String SAID = ": the input changed between its two readings; persist it";

  /** Otherwise the first reading leaves the rows, and there is no second one. */
  @BeforeEach
  void withoutRoomForCopies() {
    System.setProperty(Keys.ROW_COPY_SHARE.name(), "0");
  }

  private static void withRoomForCopies() {
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
  }

  @AfterEach
  void nothingIsLeftBehind() {
    withRoomForCopies();
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
    assertThat(LocalSpark.context().getLocalProperty("spark.job.description")).isNull();
  }

  /** Makes trees of two levels and more. */
  static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  /** A source of the same rows until it is computed for the {@code from}-th time, from 0. */
  static ChangingRows source(Change change, int from) {
    return new ChangingRows(A, B, change, from);
  }

  /** The error of an action that reads rows after their change, if it is as it should be. */
  static InputChangedException refused(Change change, Runnable action) {
    InputChangedException e = catchThrowableOfType(InputChangedException.class, action::run);
    assertThat(e).as("%s, seed %d", change, SEED).isNotNull();
    assertThat(e.getMessage())
        .startsWith(change == Change.NAN || change == Change.ONE_COLUMN_MORE ? "row " : "partition")
        .contains("partition 1")
        .contains(change.told)
        .endsWith(SAID)
        .doesNotContain("\n");
    assertThat(e.partition()).hasValue(1);
    return e;
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"NONE", "HARMLESS"})
  void theSecondReading(Change change) {
    refused(change, () -> solver().solve(source(change, 1).rdd()));
  }

  /** What is not read again cannot have changed: the answer is that of the one reading. */
  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"NONE", "HARMLESS"})
  void rowsThatTheFirstReadingLeavesAreReadOnce(Change change) {
    double[] expected = solver().solve(source(Change.NONE, 0).rdd()).x();
    withRoomForCopies();
    ChangingRows once = source(change, 1);
    assertThat(solver().solve(once.rdd()).x()).isEqualTo(expected);
    assertThat(once.times()).isEqualTo(1);
    ChangingRows kept = source(change, 1);
    try (QRFactorization f = solver().factorize(kept.rdd())) {
      assertThat(f.solve().x()).isEqualTo(expected);
      assertThat(kept.times()).isEqualTo(1);
    }
    refused(change, () -> solver().check(true).solve(source(change, 1).rdd()));
  }

  @Test
  void theErrorCountsWhatWasRead() {
    ChangingRows rows = source(Change.ONE_DOUBLED, 1);
    var e = refused(Change.ONE_DOUBLED, () -> solver().solve(rows.rdd()));
    int there = 2 * A.rows() / 3 - A.rows() / 3;
    assertThat(e.firstRows()).isEqualTo(there);
    assertThat(e.laterRows()).hasValue(there + 1);
    assertThat(e.laterNonzeros().orElseThrow()).isGreaterThan(e.firstNonzeros());
    assertThat(e).hasMessage("partition 1 had %d rows, then %d%s", there, there + 1, SAID);
    assertThat(rows.times()).as("found by the second reading").isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(names = {"RANDOM", "HALF_GONE", "ONE_BIT", "OTHER_COLUMNS", "LABELS"})
  void theSecondReadingWithAGivenAnalysis(Change change) {
    SymbolicAnalysis known = analysis();
    refused(change, () -> solver().analysis(known).solve(source(change, 1).rdd()));
    withRoomForCopies();
    LeastSquaresSolution s = solver().analysis(known).solve(source(Change.NONE, 0).rdd());
    assertThat(s.x()).isEqualTo(solver().solve(source(Change.NONE, 0).rdd()).x());
    assertThat(s.report().warnings()).isEmpty();
  }

  /** The analysis of the unchanged rows. */
  static SymbolicAnalysis analysis() {
    try (QRFactorization f = solver().factorize(source(Change.NONE, 0).rdd())) {
      return f.analysis();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RANDOM", "ONE_BIT", "ORDER", "OTHER_COLUMNS"})
  void theSecondReadingWhereRowsAreCombinedAndWhereQIsKept(Change change) {
    CsrMatrix tall = Problems.random(600, 8, 3, SEED);
    double[] b = Problems.rhs(600, SEED);
    refused(change, () -> GpuSparseQR.builder().solve(new ChangingRows(tall, b, change, 1).rdd()));
    refused(change, () -> solver().keepQ(true).factorize(source(change, 1).rdd()));
    refused(change, () -> solver().ridge(0.5).solve(source(change, 1).rdd()));
  }

  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"NONE", "HARMLESS"})
  void theCheckOfTheAnswer(Change change) {
    refused(change, () -> solver().check(true).solve(source(change, 2).rdd()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
  void everyStepOfRefinementAndNoReadingAfterTheLast(int from) {
    ChangingRows rows = source(Change.ONE_BIT, from);
    GpuSparseQR.Builder refined = solver().refinement(2).check(true);
    // pattern, values, three residuals for two steps of refinement, two readings for the check
    if (from < 7) {
      refused(Change.ONE_BIT, () -> refined.solve(rows.rdd()));
    } else {
      assertThat(refined.solve(rows.rdd()).report().residual().normalResidual())
          .isLessThan(Tolerances.NORMAL_RESIDUAL);
    }
    assertThat(rows.times()).isEqualTo(Math.min(from + 1, 7));
  }

  private static JavaRDD<double[]> aligned() {
    List<double[]> labels =
        IntStream.range(0, A.rows()).mapToObj(i -> new double[] {B[i], i}).toList();
    return LocalSpark.context().parallelize(labels, ChangingRows.PARTITIONS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void furtherRightHandSidesOfRowsThatAreRead(boolean keepQ) {
    for (Change change : List.of(Change.ONE_BIT, Change.OTHER_COLUMNS, Change.WEIGHTS)) {
      try (QRFactorization f = solver().keepQ(keepQ).factorize(source(change, 2).rdd())) {
        refused(change, () -> f.solve(aligned()));
      }
    }
    // the labels of the rows are not read
    try (QRFactorization f = solver().keepQ(keepQ).factorize(source(Change.LABELS, 2).rdd())) {
      assertThat(f.solve(aligned()).x(0)).hasSize(A.columns());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ONE_BIT", "LABELS", "HALF_GONE", "ORDER"})
  void furtherRowsAreReadTwiceWithoutRoomForACopy(Change change) {
    try (QRFactorization f = solver().factorize(source(Change.NONE, 0).rdd())) {
      refused(change, () -> f.solveRelabeled(source(change, 1).rdd()));
      assertThat(f.solveRelabeled(source(change, 2).rdd()).x()).hasSize(A.columns());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ONE_BIT", "LABELS", "HALF_GONE", "ORDER"})
  void furtherRowsAreReadOnceIfTheyAreCopied(Change change) {
    withRoomForCopies();
    try (QRFactorization f = solver().factorize(source(Change.NONE, 0).rdd())) {
      double[] x = f.solveRelabeled(source(Change.NONE, 0).rdd()).x();
      ChangingRows rows = source(change, 1);
      assertThat(f.solveRelabeled(rows.rdd()).x()).isEqualTo(x);
      assertThat(rows.times()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void minimumNormByTheTranspose(int from) {
    // 40 rows, 60 columns: counted, labels taken, transposed
    CsrMatrix wide = Problems.random(40, 60, 6, SEED);
    double[] b = Problems.rhs(40, SEED);
    var rows = new ChangingRows(wide, b, Change.ONE_BIT, from);
    GpuSparseQR.Builder least = GpuSparseQR.builder().minimumNorm(true);
    if (from < 3) {
      refused(Change.ONE_BIT, () -> least.solve(rows.rdd()));
    } else {
      assertThat(least.solve(rows.rdd()).residualNorm())
          .isLessThan(Tolerances.REORDERED * Problems.norm(b));
    }
    assertThat(rows.times()).isEqualTo(Math.min(from + 1, 3));
  }

  @Test
  void aFileRewrittenBetweenTheReadings(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("a.svm");
    for (String rewritten :
        List.of(
            "1 1:1\n2 1:1 2:1\n4 1:1 2:3\n",
            "1 1:1\n2 1:1 2:1\n",
            "1 2:1\n2 1:1 2:1\n4 1:1 2:2\n")) {
      Files.writeString(file, "1 1:1\n2 1:1 2:1\n4 1:1 2:2\n");
      JavaRDD<SparseRow> rows =
          LocalSpark.context().textFile(file.toString(), 1).map(ChangedInputTest::parse);
      GpuSparseQR.Builder qr = GpuSparseQR.builder().listener(between(file, rewritten));
      assertThatThrownBy(() -> qr.solve(rows))
          .isInstanceOf(InputChangedException.class)
          .hasMessageStartingWith("partition 0 had 3 rows, then ")
          .hasMessageEndingWith(SAID);
    }
  }

  /** The progress of a solve says on the driver when the second reading is about to begin. */
  private static ProgressListener between(Path file, String text) {
    return p -> {
      if (p.phase().equals("rows")) {
        try {
          Files.writeString(file, text);
        } catch (IOException e) {
          throw new java.io.UncheckedIOException(e);
        }
      }
    };
  }

  private static SparseRow parse(String line) {
    String[] words = line.split("[ :]");
    int count = words.length / 2;
    int[] index = new int[count];
    double[] value = new double[count];
    for (int k = 0; k < count; k++) {
      index[k] = Integer.parseInt(words[1 + 2 * k]) - 1;
      value[k] = Double.parseDouble(words[2 + 2 * k]);
    }
    return new SparseRow(index, value, Double.parseDouble(words[0]));
  }

  private static Dataset<Row> notDeterministic() {
    var spark = LocalSpark.session();
    var noise = functions.udf(() -> Math.random(), DataTypes.DoubleType).asNondeterministic();
    return new org.apache.spark.ml.feature.VectorAssembler()
        .setInputCols(new String[] {"one", "t"})
        .setOutputCol("features")
        .transform(
            spark
                .range(0, 50, 1, 2)
                .select(
                    functions.lit(1.0).as("one"),
                    functions.col("id").cast("double").as("t"),
                    noise.apply().as("label")));
  }

  @Test
  void aDatasetThatIsNotDeterministic() {
    assertThatThrownBy(() -> GpuSparseQR.solve(notDeterministic()))
        .isInstanceOf(InputChangedException.class)
        .hasMessage("partition 0 had 25 rows, then as many with other labels" + SAID);
    withRoomForCopies();
    assertThat(GpuSparseQR.solve(notDeterministic()).x()).hasSize(2);
    Dataset<Row> persisted = notDeterministic().persist();
    try {
      assertThat(GpuSparseQR.solve(persisted).x()).hasSize(2);
    } finally {
      persisted.unpersist(true);
    }
  }

  @Test
  void whatMakesNoDifferenceIsNoChange() {
    ChangingRows rows = source(Change.HARMLESS, 1);
    LeastSquaresSolution s = solver().check(true).solve(rows.rdd());
    assertThat(rows.times()).as("pattern, values, two for the check").isEqualTo(4);
    assertThat(s.x()).isEqualTo(solver().solve(source(Change.NONE, 0).rdd()).x());
  }
}
