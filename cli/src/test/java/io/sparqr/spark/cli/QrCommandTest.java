/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.matrix.Numpy;
import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QrCommandTest {

  private static final int M = 60;
  private static final int N = 5;

  @TempDir Path folder;

  private Path file(String name) {
    return folder.resolve(name);
  }

  /** Column 4 is the sum of columns 0 and 1. */
  private static double[] dependent() {
    var random = new Random(47);
    double[] a = new double[M * N];
    for (int k = 0; k < M * (N - 1); k++) {
      a[k] = random.nextGaussian();
    }
    for (int i = 0; i < M; i++) {
      a[i + 4 * M] = a[i] + a[i + M];
    }
    return a;
  }

  private Path matrix(double[] a, int m, int n) throws IOException {
    MatrixMarketWriter.writeArray(file("A.mtx"), new DenseMatrix(m, n, a));
    return file("A.mtx");
  }

  private static double[] read(Path file, int m, int n) throws IOException {
    CsrMatrix a;
    try (InputStream in = Files.newInputStream(file)) {
      a =
          file.toString().endsWith(".npy")
              ? Numpy.readMatrix(in, file.toString())
              : MatrixMarket.readMatrix(in, file.toString());
    }
    assertThat(a.rows()).isEqualTo(m);
    assertThat(a.columns()).isEqualTo(n);
    double[] values = new double[m * n];
    for (int i = 0; i < m; i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        values[i + a.columnIndex()[k] * m] = a.values()[k];
      }
    }
    return values;
  }

  private static double norm(double[] a) {
    double sum = 0;
    for (double x : a) {
      sum = Math.fma(x, x, sum);
    }
    return Math.sqrt(sum);
  }

  @ParameterizedTest
  @ValueSource(strings = {"local", "spark"})
  void writesRAndQ(String engine) throws IOException {
    CliRun.session();
    double[] a = dependent();
    CliRun run =
        CliRun.of(
            "qr",
            "--matrix",
            matrix(a, M, N),
            "--out",
            file("R.npy"),
            "--q",
            file("Q.mtx"),
            "--singular-values",
            3,
            "--report",
            file("report.json"),
            "--engine",
            engine,
            "--partitions",
            3);
    assertThat(run.code()).as(run.err()).isZero();
    double[] r = read(file("R.npy"), N, N);
    double[] q = read(file("Q.mtx"), M, N);
    double size = norm(a);
    for (int j = 0; j < N; j++) {
      assertThat(r[j + j * N]).isGreaterThanOrEqualTo(0);
      for (int i = j + 1; i < N; i++) {
        assertThat(r[i + j * N]).isZero();
      }
      for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int k = 0; k < N; k++) {
          sum += q[i + k * M] * r[k + j * N];
        }
        assertThat(sum).isCloseTo(a[i + j * M], within(Tolerances.of(M, N, size)));
      }
      for (int k = 0; k < N; k++) {
        double sum = 0;
        for (int i = 0; i < M; i++) {
          sum += q[i + k * M] * q[i + j * M];
        }
        assertThat(sum).isCloseTo(j == k ? 1 : 0, within(Tolerances.of(M, N, 1)));
      }
    }
    JsonNode report = new ObjectMapper().readTree(file("report.json").toFile());
    assertThat(report.path("rows").asInt()).isEqualTo(M);
    assertThat(report.path("columns").asInt()).isEqualTo(N);
    assertThat(report.path("rank").asInt()).isEqualTo(4);
    assertThat(report.path("engine").asText()).isEqualTo(engine);
    assertThat(report.path("engineReason").asText()).isEqualTo("asked for");
    assertThat(report.path("seconds").path("factorize").asDouble()).isPositive();
    assertThat(report.path("singularValues")).hasSize(3);
    // the squares of all singular values are the squares of all entries
    CliRun all = CliRun.of("qr", "--matrix", file("A.mtx"), "--singular-values", 5);
    assertThat(all.code()).as(all.err()).isZero();
    String line =
        all.out().lines().filter(l -> l.startsWith("singular values")).findFirst().orElseThrow();
    String[] words = line.substring("singular values".length()).strip().split(" ");
    assertThat(words).hasSize(5);
    double squares = 0;
    for (int k = 0; k < 5; k++) {
      double s = Double.parseDouble(words[k]);
      squares = Math.fma(s, s, squares);
      if (k < 3) {
        assertThat(report.path("singularValues").path(k).asDouble())
            .isCloseTo(s, within(Tolerances.of(N, N, size)));
      }
    }
    assertThat(Math.sqrt(squares)).isCloseTo(size, within(Tolerances.of(M, N, size)));
    assertThat(all.out()).contains("rank            4 (");
  }

  @Test
  void theRankIsByTheToleranceGiven() throws IOException {
    double[] a = {1, 0, 0, 0, 0x1p-10, 0};
    Path file = matrix(a, 3, 2);
    assertThat(CliRun.of("qr", "--matrix", file).out()).contains("rank            2 (");
    assertThat(CliRun.of("qr", "--matrix", file, "--rank-tolerance", 0.01).out())
        .contains("rank            1 (");
    CliRun transposed = CliRun.of("qr", "--matrix", file, "--transpose");
    assertThat(transposed.code()).isEqualTo(ExitCode.FAILED);
  }

  private void refused(int code, String message, Object... arguments) {
    CliRun run = CliRun.of(arguments);
    assertThat(run.code()).as(run.err()).isEqualTo(code);
    assertThat(run.errors()).hasSize(1);
    assertThat(run.errors().get(0)).contains(message);
  }

  @Test
  void badInputIsOneErrorAndNoFile() throws IOException {
    Path wide = matrix(new double[] {1, 2, 3, 4, 5, 6}, 2, 3);
    Path r = file("R.mtx");
    refused(
        ExitCode.FAILED,
        "2 rows, 3 columns: a tall matrix has at least as many rows as columns (--transpose takes"
            + " A')",
        "qr",
        "--matrix",
        wide,
        "--out",
        r);
    Path nan = file("nan.npy");
    io.sparqr.matrix.NumpyWriter.writeArray(
        nan, new DenseMatrix(3, 1, new double[] {1, Double.NaN, 2}));
    refused(
        ExitCode.NUMERICAL,
        "the value of row 2, column 1 is not finite",
        "qr",
        "--matrix",
        nan,
        "--out",
        r);
    refused(
        ExitCode.USAGE,
        "--singular-values -1: at least 0",
        "qr",
        "--matrix",
        wide,
        "--singular-values",
        -1);
    refused(
        ExitCode.USAGE,
        "--singular-values 3: the matrix has 2 columns",
        "qr",
        "--matrix",
        wide,
        "--transpose",
        "--singular-values",
        3);
    refused(
        ExitCode.USAGE,
        "--rank-tolerance 1.0: from 0 to less than 1",
        "qr",
        "--matrix",
        wide,
        "--rank-tolerance",
        1);
    refused(
        ExitCode.USAGE,
        "--out and --q are the same file",
        "qr",
        "--matrix",
        wide,
        "--out",
        r,
        "--q",
        r);
    refused(
        ExitCode.USAGE,
        "the rows of a table have no order",
        "qr",
        "--matrix",
        Files.writeString(file("t.csv"), "0,0,1\n"),
        "--out",
        r);
    Path much = file("much.mtx");
    Files.writeString(
        much, "%%MatrixMarket matrix coordinate real general\n60000 60000 1\n1 1 1\n");
    refused(
        ExitCode.USAGE,
        "R of 60000 x 60000, taken as dense, needs about",
        "qr",
        "--matrix",
        much,
        "--out",
        r);
    assertThat(r).doesNotExist();
  }
}
