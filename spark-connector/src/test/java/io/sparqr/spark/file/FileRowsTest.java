/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.fail;

import io.sparqr.SampledCases;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.LabeledMatrix;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.MatrixFiles;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPInputStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The executors' readers against the driver's: same bits, same errors, however a file is cut. */
@Tag("once")
class FileRowsTest {

  private static final String SPLIT = "mapreduce.input.fileinputformat.split.maxsize";
  private static final String HEAD = "%%MatrixMarket matrix coordinate real general\n";

  private final JavaSparkContext context = LocalSpark.context();

  @TempDir Path folder;

  @AfterEach
  void defaultSplits() {
    context.hadoopConfiguration().unset(SPLIT);
  }

  private void splitBytes(int bytes) {
    context.hadoopConfiguration().set(SPLIT, Integer.toString(bytes));
  }

  private Path put(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text, StandardCharsets.ISO_8859_1);
  }

  private FileRows.Request request(Path file, boolean transpose, DenseMatrix b, int partitions) {
    String name = file.toString();
    return new FileRows.Request(name, name, transpose, Labels.DEFAULT, b, null, partitions);
  }

  private static void assertSame(List<SparseRow> rows, CsrMatrix a, DenseMatrix b, String what) {
    assertThat(rows).as(what).hasSize(a.rows());
    for (int i = 0; i < a.rows(); i++) {
      SparseRow r = rows.get(i);
      int from = a.rowStart()[i];
      int to = a.rowStart()[i + 1];
      double[] labels = new double[b.columns()];
      for (int k = 0; k < labels.length; k++) {
        labels[k] = b.values()[k * a.rows() + i];
      }
      boolean same =
          Arrays.equals(r.indices(), Arrays.copyOfRange(a.columnIndex(), from, to))
              && Arrays.equals(r.values(), Arrays.copyOfRange(a.values(), from, to))
              && Arrays.equals(r.labels(), labels)
              && r.columns() == a.columns();
      if (!same) {
        fail(what + ": row " + i + " is not the driver's");
      }
    }
  }

  private void assertAsTheDriver(Path file, boolean transpose, int partitions) throws IOException {
    CsrMatrix read = MatrixMarket.readMatrix(file);
    CsrMatrix a = transpose ? read.transpose() : read;
    DenseMatrix b = new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a));
    try (FileRows rows =
        FileRows.matrixMarket(context, request(file, transpose, null, partitions))) {
      assertThat(rows.rowCount()).isEqualTo(a.rows());
      assertThat(rows.columns()).isEqualTo(a.columns());
      assertSame(rows.rows().collect(), a, b, file.getFileName() + "");
    }
  }

  /**
   * A file with everything that the format allows, its entries unordered and some of them twice.
   */
  private static String random(String field, String symmetry, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int n = 23;
    int m = symmetry.equals("general") ? 31 : n;
    int count = 150;
    StringBuilder text =
        new StringBuilder("%%MatrixMarket matrix coordinate " + field + " " + symmetry + "\r\n");
    text.append("% a comment\n\n" + m + " " + n + "  " + count + " \r\n");
    for (int k = 0; k < count; k++) {
      int i = random.nextInt(m) + 1;
      int j = random.nextInt(n) + 1;
      i = symmetry.equals("skew-symmetric") && i == j ? i % n + 1 : i;
      if (!symmetry.equals("general") && (i + j) % 2 == 0 == i > j) {
        // On both sides of the diagonal, but each pair always on the same one.
        int other = i;
        i = j;
        j = other;
      }
      String value =
          switch (field) {
            case "pattern" -> "";
            case "integer" -> " " + random.nextInt(-9, 9);
            default -> " " + (random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(-8, 8));
          };
      text.append(i + (random.nextBoolean() ? " " : "\t ") + j + value);
      text.append(random.nextBoolean() ? "\n" : " \r\n");
      if (random.nextInt(9) == 0) {
        text.append(
            random.nextBoolean() ? "\n  \r\n" : "%" + "-".repeat(random.nextInt(40)) + "\n");
      }
    }
    return text.toString();
  }

  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @ValueSource(
      strings = {
        "real general",
        "integer general",
        "pattern general",
        "real symmetric",
        "pattern symmetric",
        "real skew-symmetric"
      })
  void everyKindOfFileGivesTheDriversBits(String kind) throws IOException {
    String[] word = kind.split(" ");
    for (long seed = 1; seed <= 2; seed++) {
      Path file = put(word[1] + " seed " + seed, random(word[0], word[1], seed));
      int[] bytes = {97, 1 << 20};
      splitBytes(bytes[(int) seed - 1]);
      assertAsTheDriver(file, false, (int) seed * 2 - 1);
      assertAsTheDriver(file, true, 11);
    }
  }

  @Test
  void tinySplitsGiveEveryEntryOnce() throws IOException {
    Path file = put("tiny.mtx", HEAD + "%\n3 2 5\n1 1 1\n\n3 2 4\r\n%xx\n  1 1 2\n2 1 -1\n3 1 7");
    for (int bytes : new int[] {2, 13}) {
      splitBytes(bytes);
      assertAsTheDriver(file, false, 2);
    }
  }

  @Test
  void bucketsThatFillUpKeepTheOrder() throws IOException {
    // Values that do not commute in rounding, 20000 of them at three places, mirrored.
    SplittableRandom random = new SplittableRandom(5);
    int count = 40_000;
    StringBuilder text =
        new StringBuilder("%%MatrixMarket matrix coordinate real symmetric\n4 4 " + count + "\n");
    for (int k = 0; k < count; k++) {
      int i = random.nextInt(1, 5);
      text.append(i + " " + random.nextInt(1, i + 1) + " ");
      text.append(random.nextDouble() * Math.pow(10, random.nextInt(12)) + "\n");
    }
    Path file = put("sums.mtx", text.toString());
    splitBytes(300_000);
    assertAsTheDriver(file, false, 1);
    assertAsTheDriver(file, false, 4);
  }

  @Test
  void rightHandSidesGoWithTheirRows() throws IOException {
    Path file = put("a.mtx", random("real", "general", 11));
    CsrMatrix a = MatrixMarket.readMatrix(file);
    double[] values = new double[2 * a.rows()];
    Arrays.setAll(values, k -> Math.sin(k));
    DenseMatrix b = new DenseMatrix(a.rows(), 2, values);
    splitBytes(200);
    try (FileRows rows = FileRows.matrixMarket(context, request(file, false, b, 5)).persist()) {
      assertSame(rows.rows().collect(), a, b, "with right-hand sides");
      assertThat(rows.splits()).isGreaterThan(5);
      assertThat(rows.rows().getNumPartitions()).isEqualTo(5);
    }
    assertThat(context.getPersistentRDDs()).isEmpty();
    DenseMatrix wrong = new DenseMatrix(a.rows() + 1, 1, new double[a.rows() + 1]);
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(file, false, wrong, 5)))
        .hasMessage("the right-hand side has 32 rows, the matrix 31");
  }

  private FileRows.Request request(Path file, Path rhs, int partitions) {
    String name = file.toString();
    var source = new FileRows.Source(rhs.toString(), rhs.toString());
    return new FileRows.Request(name, name, false, Labels.DEFAULT, null, source, partitions);
  }

  /** An array with everything that the format allows. */
  private static String array(int m, int k, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder("%%MatrixMarket matrix array real general\r\n");
    text.append("% a comment\n\n" + m + " " + k + " \r\n");
    for (int v = 0; v < m * k; v++) {
      text.append((random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(-8, 8)));
      text.append(
          switch (random.nextInt(6)) {
            case 0 -> "  ";
            case 1 -> " \r\n%" + "-".repeat(random.nextInt(30)) + "\n";
            case 2 -> "\n\n  \r\n";
            default -> "\n";
          });
    }
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void rightHandSidesInFilesGoWithTheirRows(int k) throws IOException {
    Path file = put("a.mtx", random("real", "general", 12));
    CsrMatrix a = MatrixMarket.readMatrix(file);
    Path rhs = put("b.mtx", array(a.rows(), k, 21 + k));
    DenseMatrix b = MatrixMarket.readDense(rhs);
    for (int bytes : new int[] {71, 1 << 20}) {
      splitBytes(bytes);
      for (int partitions : new int[] {1, 5}) {
        try (FileRows rows = FileRows.matrixMarket(context, request(file, rhs, partitions))) {
          assertSame(rows.rows().collect(), a, b, k + " columns, splits of " + bytes);
        }
      }
    }
    List<SparseRow> rows =
        MatrixFiles.matrixMarket(context, file.toString(), rhs.toString()).collect();
    assertSame(rows, a, b, "by MatrixFiles");
    assertThat(context.getPersistentRDDs()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3 1\n1\n2\n",
        "3 1\n1\n2\n\n% end",
        "3 1\n1 2\n3\n4\n",
        "3 1\n1\n\n2.0.0\n3\nx\n",
        "3 1\n1\n%\r\n2\nnan\n",
        "3 1\n1\n2\n1e999",
        "3 2\n1\n2\n3\n4\ninf\n6\n"
      })
  void errorsOfRightHandSidesAreTheDriversWithTheirLines(String body) throws IOException {
    Path file = put("a.mtx", HEAD + "3 2 3\n1 1 1\n2 2 2\n3 1 1\n");
    Path rhs = put("bad.mtx", "%%MatrixMarket matrix array real general\n" + body);
    Throwable expected = catchThrowable(() -> MatrixMarket.readDense(rhs));
    assertThat(expected).isInstanceOf(SparseQrException.class);
    splitBytes(3);
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(file, rhs, 2)))
        .hasSameClassAs(expected)
        .hasMessage(expected.getMessage());
  }

  @Test
  void rightHandSidesThatDoNotFitAndThoseForTheDriver() throws IOException {
    Path file = put("a.mtx", HEAD + "3 2 3\n1 1 1\n2 2 2\n3 1 1\n");
    Path two = put("two.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(file, two, 2)))
        .hasMessage("the right-hand side has 2 rows, the matrix 3");
    Path none = put("none.mtx", "%%MatrixMarket matrix array real general\n3 0\n");
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(file, none, 2)))
        .hasMessage("the right-hand side has no columns");
    Path sparse = put("sparse.mtx", HEAD + "3 1 1\n2 1 5\n");
    try (InputStream in = Files.newInputStream(sparse)) {
      assertThat(FileRows.obstacle(in, "sparse.mtx", FileRows.Content.RIGHT_HAND_SIDE))
          .contains("not a general array");
    }
    List<SparseRow> rows =
        MatrixFiles.matrixMarket(context, file.toString(), sparse.toString()).collect();
    assertSame(rows, MatrixMarket.readMatrix(file), MatrixMarket.readDense(sparse), "sparse");
  }

  /** All input that the driver refuses, with its messages. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "H3 2 3\n1 1 1\n2 2 2\n",
        "H3 2 3\n1 1 1\n2 2 2",
        "H3 2 3\n1 1 1\n%\n2 2 2\n\n\n% end\n",
        "H3 2 3\n",
        "H3 2 3",
        "H3 2 3\n1 1 1\n2 2 2\n3 1 1\n\n%\n3 2 1\n1 1 x\n",
        "H3 2 1\n1 1 1\nx\n",
        "H3 2 3\n1 1 1\n2 2 two\n3 1 x\n",
        "H3 2 3\r\n1 1 1\r\n\r\n%\r\n2 2\r\n3 1 1\r\n",
        "H3 2 3\n1 1 1\n2 2 nan\n3 1 1\n",
        "H3 2 3\n1 1 1\n2 2 2\n3 1 1e999",
        "H3 2 3\n1 1 1\n2 3 2\n3 1 1\n",
        "H3 2 3\n0 1 1\n2 2 2\n3 1 1\n",
        "H3 2 3\n1 1 1\n2 2 2 2\n3 1 1\n",
        "H3 2 3\n1 1 1\n2 2 2\n3 1 ",
        "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 1\n2 2 1.5\n",
        "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 1\n2 2 1",
        "%%MatrixMarket matrix coordinate complex general\n2 2 1\n2 1 1 1\n",
        "H3 2\n1 1 1\n",
        "hello\n",
        ""
      })
  void errorsAreTheDriversWithTheirLines(String text) throws IOException {
    Path file = put("bad.mtx", text.replace("H", HEAD));
    Throwable expected = catchThrowable(() -> MatrixMarket.readMatrix(file));
    assertThat(expected).isInstanceOf(SparseQrException.class);
    for (int bytes : new int[] {9}) {
      splitBytes(bytes);
      assertThatThrownBy(() -> FileRows.matrixMarket(context, request(file, false, null, 2)))
          .as("splits of %d bytes", bytes)
          .hasSameClassAs(expected)
          .hasMessage(expected.getMessage());
    }
  }

  @Test
  void aMalformedLineDeepInALargerFileIsNamed() throws IOException {
    StringBuilder text = new StringBuilder(HEAD + "% comment\n1000 50 40000\n");
    SplittableRandom random = new SplittableRandom(3);
    for (int k = 0; k < 40_000; k++) {
      String value = k == 31_234 || k == 39_000 ? "1.0.0" : Double.toString(random.nextDouble());
      text.append(random.nextInt(1, 1001) + " " + random.nextInt(1, 51) + " " + value);
      text.append(k % 7 == 0 ? "\r\n\n" : "\n");
    }
    Path file = put("deep.mtx", text.toString());
    splitBytes(20_000);
    int line = 4 + 31_234 + 31_234 / 7;
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(file, false, null, 0)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessage(file + ":" + line + ": '1.0.0' is no number");
    assertThatThrownBy(() -> MatrixMarket.readMatrix(file)).hasMessageContaining(":" + line + ":");
    assertThat(context.getPersistentRDDs()).isEmpty();
  }

  @Test
  void whatCannotBeCutIsRefused() throws IOException {
    Path array = put("array.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(array, false, null, 0)))
        .hasMessageContaining("an array file is not split");
    Path packed = folder.resolve("a.mtx");
    try (var out = new java.util.zip.GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write((HEAD + "1 1 1\n1 1 1\n").getBytes(StandardCharsets.US_ASCII));
    }
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(packed, false, null, 0)))
        .hasMessageContaining("a gzip file cannot be split");
    assertThatThrownBy(() -> FileRows.libsvm(context, request(packed, false, null, 0)))
        .hasMessageContaining("a gzip file cannot be split");
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(folder, false, null, 0)))
        .hasMessageContaining("a folder");
    Path empty = put("empty.mtx", HEAD + "0 3 0\n");
    assertThatThrownBy(() -> FileRows.matrixMarket(context, request(empty, false, null, 0)))
        .hasMessageContaining("a 0 x 3 matrix has no rows");
    assertThat(MatrixMarket.readMatrix(put("none.mtx", HEAD + "3 3 0")).nonzeros()).isZero();
    assertAsTheDriver(folder.resolve("none.mtx"), false, 2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+1 1:0.5 3:-2 # note\n\n-1.5\n# all comment\n3e0 4:1 2:7 \r\n",
        "1 1:5\n2 0:6 2:7",
        "7 3:1\r\n8\r\n9 1:1 2:2 3:1e-5\r\n",
        "5 9:1"
      })
  void libsvmGivesTheDriversBits(String text) throws IOException {
    Path file = put("a.svm", text);
    LabeledMatrix expected = Libsvm.read(file);
    int m = expected.matrix().rows();
    DenseMatrix labels = new DenseMatrix(m, 1, expected.labels());
    for (int bytes : new int[] {3, 11, 1000}) {
      splitBytes(bytes);
      String what = "splits of " + bytes;
      try (FileRows rows = FileRows.libsvm(context, request(file, false, null, 0))) {
        assertSame(rows.rows().collect(), expected.matrix(), labels, what);
      }
      DenseMatrix b = new DenseMatrix(m, 2, new SplittableRandom(1).doubles(2 * m).toArray());
      try (FileRows rows = FileRows.libsvm(context, request(file, false, b, 3))) {
        assertSame(rows.rows().collect(), expected.matrix(), b, what);
      }
    }
    assertThat(context.getPersistentRDDs()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1 1:1\n2 2:x\n3 3:y\n",
        "1 1:1\n\n\r\n# c\n2 1:1 1:2",
        "1 1:2\n1 qid:x 1:2",
        "1 1:2\n1 1:2 qid:3",
        "1 1:1\nnan 1:1",
        "1 1:1\n2 4:inf\n",
        "1 1:2\n1 2",
        "1 -1:2",
      })
  void libsvmErrorsAreTheDriversWithTheirLines(String text) throws IOException {
    Path file = put("bad.svm", text);
    Throwable expected = catchThrowable(() -> Libsvm.read(file));
    assertThat(expected).isInstanceOf(SparseQrException.class);
    for (int bytes : new int[] {5}) {
      splitBytes(bytes);
      assertThatThrownBy(() -> FileRows.libsvm(context, request(file, false, null, 2)))
          .as("splits of %d bytes", bytes)
          .hasSameClassAs(expected)
          .hasMessage(expected.getMessage());
    }
    assertThat(context.getPersistentRDDs()).isEmpty();
  }

  @Test
  void emptyLibsvmHasNothingToSolve() throws IOException {
    Path file = put("empty.svm", "# nothing\n");
    assertThatThrownBy(() -> FileRows.libsvm(context, request(file, false, null, 2)))
        .hasMessageContaining("nothing to solve");
    Path nothing = put("nothing.svm", "");
    assertThatThrownBy(() -> FileRows.libsvm(context, request(nothing, false, null, 2)))
        .hasMessageContaining("nothing to solve");
  }

  @Test
  void realFilesGiveTheDriversBits() throws IOException {
    Path data = Path.of(System.getProperty("sparqr.shared", "none"), "data");
    Assumptions.assumeTrue(Files.isDirectory(data), "no collection of real problems here");
    splitBytes(200_000);
    for (String name :
        new String[] {
          "suitesparse/494_bus.mtx",
          "suitesparse/adder_dcop_05.mtx",
          "suitesparse/bcsstk13.mtx.gz",
          "lsq/illc1850.mtx.gz",
          "slam/MIT.mtx.gz"
        }) {
      assertAsTheDriver(plain(data.resolve(name)), false, 0);
      assertAsTheDriver(plain(data.resolve(name)), true, 7);
    }
    for (String name : new String[] {"housing_scale.svm.gz", "agaricus_train.svm.gz"}) {
      Path file = plain(data.resolve("regression").resolve(name));
      LabeledMatrix expected = Libsvm.read(file);
      DenseMatrix labels = new DenseMatrix(expected.matrix().rows(), 1, expected.labels());
      try (FileRows rows = FileRows.libsvm(context, request(file, false, null, 3))) {
        assertSame(rows.rows().collect(), expected.matrix(), labels, name);
      }
    }
  }

  private Path plain(Path file) throws IOException {
    if (!file.toString().endsWith(".gz")) {
      return file;
    }
    Path unpacked = folder.resolve(file.getFileName().toString().replace(".gz", ""));
    if (!Files.exists(unpacked)) {
      try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
        Files.copy(in, unpacked);
      }
    }
    return unpacked;
  }

  @Test
  void rangesCoverAllRowsInOrder() {
    for (long m : new long[] {1, 2, 7, 100, 12_345, (1L << 31) + 11, (1L << 46) + 3}) {
      for (int wanted : new int[] {1, 2, 3, 7, 64}) {
        RowRanges ranges = new RowRanges(m, wanted);
        assertThat(ranges.count()).isBetween((int) Math.min(m, wanted), 1 << 20);
        assertThat(ranges.first(0)).isZero();
        assertThat(ranges.first(ranges.count())).isEqualTo(m);
        for (int p = 0; p < Math.min(100, ranges.count()); p++) {
          assertThat(ranges.size(p)).isPositive();
          assertThat(ranges.of(ranges.first(p))).isEqualTo(p);
          assertThat(ranges.of(ranges.first(p + 1) - 1)).isEqualTo(p);
        }
      }
    }
  }
}
