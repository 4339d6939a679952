/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is accepted is as good as it was measured, by arithmetic of 60 digits. */
class GramQrTest {

  private static final DenseKernels KERNELS = BlasLoader.kernels();

  /** Of the rank test: what is smaller is a column's rounding, not its remainder. */
  private static final double TOLERANCE = Math.pow(2, -33);

  /** The measurement is random: in 100,000 fronts the truth was up to 1.6 times what it allowed. */
  private static final double MEASURED = 2.5;

  private static final Crew PARALLEL =
      (count, task) -> IntStream.range(0, count).parallel().forEach(task);

  private static GramQr factor(GramCase c, double tolerance, Crew crew) {
    return GramQr.factor(KERNELS, c, c.shape, 1, tolerance, part -> {}, crew);
  }

  /** Kinds of rows, from the harmless to those that no Gram matrix can tell apart. */
  private static GramCase kind(int seed, Random random) {
    int n = 2 + random.nextInt(20);
    int m = 3 * n + random.nextInt(6 * n);
    double spread = Math.pow(10, -random.nextInt(17));
    GramCase.Entry normal = (i, j) -> random.nextGaussian();
    return switch (seed % 8) {
      case 0 -> GramCase.random(random, n, m, (i, j) -> 1);
      case 1 -> GramCase.random(random, n, m, (i, j) -> random.nextInt(7) - 2);
      case 2 -> GramCase.random(random, n, m, normal);
      // Graded columns, graded rows, heavy rows.
      case 3 ->
          GramCase.random(random, n, m, (i, j) -> random.nextGaussian() * power(spread, j, n));
      case 4 ->
          GramCase.random(random, n, m, (i, j) -> random.nextGaussian() * power(spread, i, m));
      case 5 ->
          GramCase.random(random, n, m, (i, j) -> random.nextGaussian() * (i % 5 == 0 ? 1e12 : 1));
      // Laeuchli: a row of ones, and a small number for each column.
      case 6 -> laeuchli(n, spread, random);
      default -> nearly(n, m, spread, random);
    };
  }

  private static double power(double spread, int k, int of) {
    return Math.pow(spread, (double) k / of);
  }

  private static GramCase laeuchli(int n, double small, Random random) {
    double[][] rows = new double[n + 1][n];
    for (int j = 0; j < n; j++) {
      rows[0][j] = 1;
      rows[j + 1][j] = small * (1 + random.nextDouble());
    }
    return single(rows, random);
  }

  /** One column is the sum of the others, up to a small part. */
  private static GramCase nearly(int n, int m, double small, Random random) {
    double[][] rows = new double[m][n];
    int last = random.nextInt(n);
    for (int i = 0; i < m; i++) {
      rows[i][random.nextInt(n)] = random.nextGaussian();
      rows[i][random.nextInt(n)] = random.nextGaussian();
      double sum = 0;
      for (int j = 0; j < n; j++) {
        sum += j == last ? 0 : rows[i][j];
      }
      rows[i][last] = sum + small * random.nextGaussian();
    }
    return single(rows, random);
  }

  private static GramCase single(double[][] rows, Random random) {
    int[] ones = IntStream.range(0, rows.length).map(i -> 1).toArray();
    return new GramCase(rows, random.doubles(rows.length, -1, 1).toArray(), ones);
  }

  @Test
  void whatIsAcceptedIsAsGoodAsReflectors() {
    int accepted = 0;
    int refused = 0;
    int dropped = 0;
    double[] worst = new double[3];
    for (int seed : Sampling.numbers("sparqr.gram", 20_000).toArray()) {
      GramCase c = kind(seed, new Random(seed));
      GramQr qr = factor(c, TOLERANCE, Crew.ALONE);
      if (!qr.isAccepted()) {
        refused++;
        continue;
      }
      if (qr.kept(0).length < c.n) {
        dropped++;
        assertThat(qr.droppedNorm()).isLessThanOrEqualTo(TOLERANCE * Math.sqrt(c.n));
        continue;
      }
      accepted++;
      GramCase.Truth truth = c.truth(qr);
      assertThat(truth.backwardError())
          .as("seed %d: backward error of R", seed)
          .isLessThanOrEqualTo(MEASURED * GramQr.allowed(c.n));
      assertThat(truth.rhsError())
          .as("seed %d: Q'b", seed)
          .isLessThanOrEqualTo(MEASURED * GramQr.allowed(c.n));
      assertThat(truth.squaresError())
          .as("seed %d: squares", seed)
          .isLessThanOrEqualTo(MEASURED * GramQr.allowed(c.n));
      worst[0] = Math.max(worst[0], truth.backwardError());
      worst[1] = Math.max(worst[1], truth.rhsError());
      worst[2] = Math.max(worst[2], truth.squaresError());
    }
    System.out.printf(
        "fronts by their Gram matrix: %d accepted, %d with dependent columns, %d refused; largest"
            + " errors of R, Q'b, squares in eps: %.2f, %.2f, %.2f%n",
        accepted,
        dropped,
        refused,
        worst[0] / Tolerances.EPS,
        worst[1] / Tolerances.EPS,
        worst[2] / Tolerances.EPS);
    assertThat(accepted).isGreaterThan((accepted + refused + dropped) / 2);
    assertThat(refused).isPositive();
    assertThat(dropped).isPositive();
  }

  @Test
  void theBitsDoNotDependOnThreads() {
    for (int seed : Sampling.numbers(40, 2).toArray()) {
      var random = new Random(seed);
      GramCase c = GramCase.random(random, 300, 3000, (i, j) -> random.nextGaussian());
      GramQr alone = factor(c, TOLERANCE, Crew.ALONE);
      GramQr many = factor(c, TOLERANCE, PARALLEL);
      assertThat(many.refused()).isEqualTo(alone.refused());
      assertThat(GramCase.entries(many, 0)).isEqualTo(GramCase.entries(alone, 0));
      assertThat(many.residualSquares()).isEqualTo(alone.residualSquares());
    }
  }

  /** Dummies of two factors: one column of the second depends on the others, exactly. */
  @Test
  void dummiesLoseOneColumn() {
    var random = new Random(11);
    int a = 30;
    int b = 20;
    double[][] rows = new double[600][a + b];
    for (double[] row : rows) {
      row[random.nextInt(a)] = 1;
      row[a + random.nextInt(b)] = 1;
    }
    GramQr qr = factor(single(rows, random), TOLERANCE, Crew.ALONE);
    assertThat(qr.refused()).isEmpty();
    assertThat(qr.kept(0).length).isEqualTo(a + b - 1);
    assertThat(qr.staircase()[a + b - 1]).as("the last one").isEqualTo(a + b - 1);
    assertThat(qr.droppedNorm()).isLessThan(Tolerances.EPS * rows.length);
  }

  /** More columns are nearly those beside them than one correction takes. */
  @Test
  void aLossOfDigitsIsMeasured() {
    var random = new Random(8);
    double[][] rows = new double[600][60];
    for (double[] row : rows) {
      for (int k = 0; k < 4; k++) {
        row[random.nextInt(60)] = random.nextGaussian();
      }
      for (int j = 0; j < 12; j++) {
        row[5 * j + 1] = row[5 * j] + 1e-4 * random.nextGaussian();
      }
    }
    GramQr qr = factor(single(rows, random), TOLERANCE, Crew.ALONE);
    assertThat(qr.refused()).startsWith("backward error");
    assertThat(qr.error()).isBetween(GramQr.allowed(60), 1e4 * Tolerances.EPS);
  }

  /** A small remainder has lost digits in F'F, which one correction of R brings back. */
  @Test
  void fewSmallDirectionsAreCorrected() {
    for (int seed : Sampling.numbers(30, 1).toArray()) {
      var random = new Random(seed);
      GramCase c = nearly(20, 300, 1e-3, random);
      GramQr qr = factor(c, TOLERANCE, Crew.ALONE);
      assertThat(qr.refused()).as("seed %d", seed).isEmpty();
      assertThat(c.truth(qr).backwardError())
          .as("seed %d", seed)
          .isLessThanOrEqualTo(MEASURED * GramQr.allowed(c.n));
    }
  }

  @Test
  void aSmallRemainderIsNotTakenForNone() {
    GramCase c = nearly(12, 100, 1e-7, new Random(5));
    assertThat(factor(c, TOLERANCE, Crew.ALONE).refused()).contains("keeps");
    assertThat(factor(c, 1, Crew.ALONE).kept(0).length).isEqualTo(11);
  }

  @Test
  void withoutARankTestAWeakColumnIsRefused() {
    double[][] rows = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}};
    GramCase c = single(rows, new Random(1));
    assertThat(factor(c, -1, Crew.ALONE).refused()).contains("no rank test");
    assertThat(factor(c, TOLERANCE, Crew.ALONE).kept(0).length).isEqualTo(1);
  }

  /** So that a job can be cancelled meanwhile. */
  @Test
  void itsProgressIsHeard() {
    var random = new Random(6);
    GramCase c = GramCase.random(random, 400, 3000, (i, j) -> random.nextGaussian());
    var heard = new ArrayList<Double>();
    GramQr.factor(KERNELS, c, c.shape, 1, TOLERANCE, heard::add, Crew.ALONE);
    assertThat(heard).hasSize(4).isSorted().endsWith(0.5);
  }

  @Test
  void anArrayHoldsTheTriangleOf65500Columns() {
    assertThat(GramQr.fits(GramShape.single(65_500, 65_500), 1)).isTrue();
    assertThat(GramQr.fits(GramShape.single(65_600, 65_600), 1)).isFalse();
  }

  @Test
  void squaresOutOfRangeAreRefused() {
    for (double scale : new double[] {1e-170, 1e-120, 1e120, 1e170}) {
      var random = new Random(3);
      GramCase c = GramCase.random(random, 5, 40, (i, j) -> scale * random.nextGaussian());
      assertThat(factor(c, 0, Crew.ALONE).isAccepted()).as("%g", scale).isFalse();
    }
  }

  @Test
  void whatIsNotANumberIsRefused() {
    var random = new Random(4);
    GramCase c = GramCase.random(random, 6, 50, (i, j) -> i == 7 ? Double.NaN : 1 + j);
    assertThat(factor(c, TOLERANCE, Crew.ALONE).isAccepted()).isFalse();
  }
}
