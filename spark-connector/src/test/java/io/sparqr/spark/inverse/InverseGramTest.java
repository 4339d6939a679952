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
    var gram = new InverseGram(f, ROWS, stair, Crew.ALONE);
    int found = 0;
    int large = 0;
    for (int k = 0; k < 200; k++) {
      int count = k < 150 ? 1 + random.nextInt(6) : 20 + random.nextInt(130);
      int[] column =
          random.ints(0, 200).filter(c -> c != 40).distinct().limit(count).sorted().toArray();
      if (k % 5 == 0) {
        column[random.nextInt(count)] = -1;
      }
      InverseFactor u = gram.factor(column);
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
  void columnsThatAreNearlyAlikeAreLeftToF() {
    int[] stair = new int[COLUMNS];
    double[] f = trapezoid(new Random(SEED), stair);
    var gram = new InverseGram(f, ROWS, stair, Crew.ALONE);
    assertThat(gram.factor(new int[] {10, 200, 201})).isNull();
    // two of many, too
    int[] all = IntStream.rangeClosed(41, 201).toArray();
    assertThat(gram.factor(all)).isNull();
    assertThat(gram.factor(Arrays.copyOf(all, all.length - 1))).isNotNull();
    assertThat(gram.factor(new int[] {10, 200})).isNotNull();
    assertThat(gram.factor(new int[] {10, 40})).as("a column of zeros").isNull();
  }
}
