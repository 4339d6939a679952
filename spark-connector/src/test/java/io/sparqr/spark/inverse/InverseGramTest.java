/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Factors of Z = F'F on some columns, against products of F's columns. */
@Tag("numbers")
class InverseGramTest {

  private static final long SEED = Long.getLong("test.seed", 20261128L);
  private static final int ROWS = 210;
  private static final int COLUMNS = 300;

  /** Columns of growing length, one of zeros, two nearly alike, of very different sizes. */
  private static double[] trapezoid(Random random, int[] stair) {
    double[] f = new double[ROWS * COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
      stair[c] = Math.min(ROWS, c + 1);
      double size = Math.scalb(1.0, random.nextInt(40) - 20);
      for (int i = 0; i < stair[c]; i++) {
        double own = i == stair[c] - 1 ? 1 : 0.2 / (stair[c] - i);
        f[i + c * ROWS] = c == 40 ? 0 : size * (own + 0.2 * own * random.nextGaussian());
      }
    }
    for (int i = 0; i < ROWS; i++) {
      f[i + 201 * ROWS] = f[i + 200 * ROWS] * (1 + 1e-3 * random.nextGaussian());
    }
    return f;
  }

  private static double product(double[] f, int c, int d) {
    double sum = 0;
    for (int i = 0; i < ROWS && c >= 0 && d >= 0; i++) {
      sum += f[i + c * ROWS] * f[i + d * ROWS];
    }
    return sum;
  }

  @Test
  void factorsHaveTheProductsOfTheColumns() {
    var random = new Random(SEED);
    int[] stair = new int[COLUMNS];
    double[] f = trapezoid(random, stair);
    var gram = new InverseGram(f, ROWS, stair, 0, null, Crew.ALONE);
    int found = 0;
    int large = 0;
    for (int k = 0; k < 200; k++) {
      int count = k < 150 ? 1 + random.nextInt(6) : 20 + random.nextInt(130);
      int[] column =
          random.ints(0, 200).filter(c -> c != 40).distinct().limit(count).sorted().toArray();
      if (k % 5 == 0) {
        column[random.nextInt(count)] = -1;
      }
      InverseFactor u = gram.factor(column, Crew.ALONE);
      if (u == null) {
        continue;
      }
      found++;
      large += count > 64 ? 1 : 0;
      int live = 0;
      for (int c = 0; c < count; c++) {
        live += column[c] < 0 ? 0 : 1;
        assertThat(u.stair()[c]).isEqualTo(live);
        for (int d = 0; d < count; d++) {
          double sum = 0;
          for (int i = 0; i < u.rows(); i++) {
            sum += u.values()[i + c * u.rows()] * u.values()[i + d * u.rows()];
          }
          double size =
              Math.sqrt(product(f, column[c], column[c]) * product(f, column[d], column[d]));
          assertThat(sum)
              .as("columns %d and %d of %d, seed %d", c, d, k, SEED)
              .isCloseTo(product(f, column[c], column[d]), within(Tolerances.RANDOM * size));
        }
        for (int i = u.stair()[c]; i < u.rows(); i++) {
          assertThat(u.values()[i + c * u.rows()]).isZero();
        }
      }
      assertThat(u.rows()).isEqualTo(live);
    }
    assertThat(found).as("seed %d", SEED).isGreaterThan(180);
    assertThat(large).as("seed %d", SEED).isGreaterThan(20);
  }

  @Test
  void aBlockHasTheProductsOfTheColumns() {
    int[] stair = new int[COLUMNS];
    double[] f = trapezoid(new Random(SEED + 1), stair);
    var gram = new InverseGram(f, ROWS, stair, 0, null, Crew.ALONE);
    int[] column = {299, 3, -1, 200, 40, 7};
    double[] block = gram.block(column, 1, 5);
    assertThat(block).hasSize(24);
    for (int i = 0; i < 6; i++) {
      for (int k = 1; k < 5; k++) {
        double expected = product(f, column[i], column[k]);
        double size =
            Math.sqrt(product(f, column[i], column[i]) * product(f, column[k], column[k]));
        assertThat(block[i * 4 + k - 1])
            .as("columns %d and %d, seed %d", column[i], column[k], SEED + 1)
            .isCloseTo(expected, within(Tolerances.RANDOM * size));
      }
    }
  }

  /** One step from a start of many columns sees a sixth of what there is. */
  @Test
  void anEstimateDoesNotEndBeforeItCanTell() {
    int refused = 0;
    for (int k = 0; k < 20; k++) {
      var random = new Random(SEED + k);
      int[] stair = new int[COLUMNS];
      double[] f = trapezoid(random, stair);
      double size = Math.sqrt(product(f, 200, 200) / ROWS);
      for (int i = 0; i < ROWS; i++) {
        f[i + 201 * ROWS] = f[i + 200 * ROWS] + 0.12 * size * random.nextGaussian();
      }
      var gram = new InverseGram(f, ROWS, stair, 0, null, Crew.ALONE);
      refused += gram.factor(IntStream.rangeClosed(41, 201).toArray(), Crew.ALONE) == null ? 1 : 0;
      assertThat(gram.factor(IntStream.rangeClosed(41, 200).toArray(), Crew.ALONE)).isNotNull();
    }
    assertThat(refused).as("seed %d", SEED).isEqualTo(20);
  }

  @Test
  void columnsThatAreNearlyAlikeAreLeftToF() {
    int[] stair = new int[COLUMNS];
    double[] f = trapezoid(new Random(SEED), stair);
    var gram = new InverseGram(f, ROWS, stair, 0, null, Crew.ALONE);
    assertThat(gram.factor(new int[] {10, 200, 201}, Crew.ALONE)).isNull();
    // two of many, too
    int[] all = IntStream.rangeClosed(41, 201).toArray();
    assertThat(gram.factor(all, Crew.ALONE)).isNull();
    assertThat(gram.factor(Arrays.copyOf(all, all.length - 1), Crew.ALONE)).isNotNull();
    assertThat(gram.factor(new int[] {10, 200}, Crew.ALONE)).isNotNull();
    assertThat(gram.factor(new int[] {10, 40}, Crew.ALONE)).as("a column of zeros").isNull();
  }

  /** Several steps of every loop that threads share, the last ones not full. */
  @Test
  void threadsShareALongTailAndItsBitsAreTheSame() {
    int n = 1300;
    var random = new Random(SEED);
    double[] f = new double[n * n];
    int[] stair = new int[n];
    for (int c = 0; c < n; c++) {
      stair[c] = c + 1;
      for (int i = 0; i <= c; i++) {
        f[i + c * n] = (i == c ? 1 : 0) + 0.2 / Math.sqrt(n) * random.nextGaussian();
      }
    }
    Crew several = (count, task) -> IntStream.range(0, count).parallel().forEach(task);
    var gram = new InverseGram(f, n, stair, 0, null, several);
    int[] column = IntStream.range(3, n).filter(c -> c % 400 != 0).toArray();
    InverseFactor u = gram.factor(column, several);
    InverseFactor alone = gram.factor(column, Crew.ALONE);
    assertThat(u).isNotNull();
    assertThat(u.values()).isEqualTo(alone.values());
    double[] v = random.doubles(column.length, -1, 1).toArray();
    double[] fv = new double[n];
    double[] uv = new double[u.rows()];
    for (int c = 0; c < column.length; c++) {
      for (int i = 0; i < n; i++) {
        fv[i] += f[i + column[c] * n] * v[c];
      }
      for (int i = 0; i < u.rows(); i++) {
        uv[i] += u.values()[i + c * u.rows()] * v[c];
      }
    }
    for (int c = 0; c < column.length; c++) {
      double expected = 0;
      double sum = 0;
      for (int i = 0; i < n; i++) {
        expected += f[i + column[c] * n] * fv[i];
      }
      for (int i = 0; i < u.rows(); i++) {
        sum += u.values()[i + c * u.rows()] * uv[i];
      }
      assertThat(sum)
          .as("Z v at column %d, seed %d", c, SEED)
          .isCloseTo(expected, within(Tolerances.RANDOM * Math.sqrt(n)));
    }
  }

  /** The products of the front above, dead columns among them, and those of three more columns. */
  @Test
  void productsOfATailAreThoseOfTheFrontAbove() {
    int[] stair = new int[COLUMNS];
    double[] f = trapezoid(new Random(SEED + 2), stair);
    int[] column = IntStream.rangeClosed(41, 200).map(c -> c % 50 == 0 ? -1 : c).toArray();
    InverseFactor tail =
        new InverseGram(f, ROWS, stair, 0, null, Crew.ALONE).factor(column, Crew.ALONE);
    assertThat(tail).isNotNull();
    assertThat(tail.products()).isNotNull();
    int rows = tail.rows() + 3;
    int columns = tail.columns() + 3;
    double[] below = new double[rows * columns];
    int[] ends = Arrays.copyOf(tail.stair(), columns);
    var random = new Random(SEED + 3);
    for (int c = 0; c < columns; c++) {
      if (c >= tail.columns()) {
        ends[c] = tail.rows() + 1 + c - tail.columns();
      }
      for (int i = 0; i < ends[c]; i++) {
        below[i + c * rows] =
            c < tail.columns() ? tail.values()[i + c * tail.rows()] : random.nextGaussian();
      }
    }
    int[] all = IntStream.range(0, columns).toArray();
    double[] expected =
        new InverseGram(below, rows, ends, tail.columns(), null, Crew.ALONE).block(all, 0, columns);
    double[] found =
        new InverseGram(below, rows, ends, tail.columns(), tail.products(), Crew.ALONE)
            .block(all, 0, columns);
    for (int i = 0; i < columns; i++) {
      for (int k = 0; k < columns; k++) {
        double size = Math.sqrt(expected[i * columns + i] * expected[k * columns + k]);
        assertThat(found[i * columns + k])
            .as("columns %d and %d, seed %d", i, k, SEED)
            .isCloseTo(expected[i * columns + k], within(Tolerances.RANDOM * size));
      }
    }
  }
}
