/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sparqr.SampledCases;
import io.sparqr.numeric.Tolerances;
import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** R'R = A'A, Q'A = R and the residual, chunk by chunk, with and without holes. */
class TallQrTest {

  private static final double EPS = Math.ulp(1.0);

  /** Runs the last piece first: nothing may depend on the order. */
  private static final Crew BACKWARDS =
      (count, task) -> {
        for (int i = count - 1; i >= 0; i--) {
          task.accept(i);
        }
      };

  private final DenseKernels kernels = BlasLoader.kernels();

  /** Rows of A followed by their right-hand sides, ascending by leftmost column. */
  private static double[][] rows(
      Random random, int m, int n, int further, int first, double scale) {
    double[][] rows = new double[m][n + further];
    int[] left = new int[m];
    for (int i = 0; i < m; i++) {
      left[i] = first + random.nextInt(n - first + 1);
    }
    Arrays.sort(left);
    for (int i = 0; i < m; i++) {
      for (int k = left[i]; k < n + further; k++) {
        boolean some = k == left[i] || random.nextInt(4) == 0 || k >= n;
        rows[i][k] = some ? scale * random.nextGaussian() : 0;
      }
    }
    return rows;
  }

  private static int leftmost(double[] row, int n) {
    int k = 0;
    while (k < n && row[k] == 0) {
      k++;
    }
    return k;
  }

  private TallQr factor(double[][] rows, int n, int further, int capacity, Crew crew, boolean q) {
    var tall = new TallQr(kernels, n, further, capacity);
    if (q) {
      tall.keepReflectors();
    }
    for (double[] row : rows) {
      if (tall.isFull()) {
        tall.reduce(crew);
      }
      int at = tall.open(leftmost(row, n));
      for (int k = 0; k < row.length; k++) {
        tall.chunk()[at + k * tall.ld()] = row[k];
      }
    }
    tall.reduce(crew);
    tall.close();
    return tall;
  }

  /** Entry (i, j) of the triangle. */
  private static double entry(TallQr tall, int i, int j) {
    return tall.triangle()[i + j * tall.triangleLd()];
  }

  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @CsvSource({
    // rows, columns, right-hand sides, first leftmost column, capacity, scale
    "900, 40, 2, 0, 41, 1",
    "900, 40, 2, 7, 57, 1",
    "3000, 300, 1, 0, 375, 1",
    "2500, 512, 3, 0, 1024, 1",
    "900, 40, 0, 0, 60, 1e300",
    "900, 40, 1, 0, 60, 1e-300",
    "70, 60, 2, 30, 61, 1",
    "30, 60, 2, 30, 61, 1",
    "5, 9, 1, 0, 10, 1",
    "0, 5, 1, 0, 6, 1"
  })
  void theTriangleHasTheRowsNormsAndQ(
      int m, int n, int further, int first, int capacity, double scale) {
    long seed = 31L * m + n;
    double[][] rows = rows(new Random(seed), m, n, further, first, scale);
    TallQr tall = factor(rows, n, further, capacity, Crew.ALONE, true);
    String what = "seed " + seed;
    double bound = 8 * (n + 8) * EPS;
    int width = n + further;
    double[] length = new double[width];
    for (int k = 0; k < width; k++) {
      for (double[] row : rows) {
        length[k] = Math.hypot(length[k], row[k] / scale);
      }
    }
    for (int j = 0; j < width; j++) {
      for (int k = j; k < width; k++) {
        double a = 0;
        for (double[] row : rows) {
          a += row[j] / scale * (row[k] / scale);
        }
        double r = 0;
        for (int i = 0; i < tall.held(); i++) {
          r += entry(tall, i, j) / scale * (entry(tall, i, k) / scale);
        }
        if (j < n) {
          assertEquals(
              a, r, bound * length[j] * length[k] + Double.MIN_NORMAL, what + " at " + j + " " + k);
        } else if (j == k && scale == 1) {
          double all = r + tall.residualSquares()[j - n];
          assertEquals(a, all, bound * length[j] * length[j], what + " rhs " + (j - n));
        }
      }
    }
    int[] stair = tall.staircase();
    for (int k = 0; k < n; k++) {
      for (int i = stair[k]; i < tall.triangleLd(); i++) {
        assertEquals(0, entry(tall, i, k), what + " below the staircase " + i + " " + k);
      }
    }
    checkQ(rows, width, tall, bound, scale, what);
  }

  /** Q'A, reflectors one by one, against the triangle. */
  private static void checkQ(
      double[][] rows, int width, TallQr tall, double bound, double scale, String what) {
    int m = rows.length;
    double[] a = new double[m * width];
    for (int i = 0; i < m; i++) {
      for (int k = 0; k < width; k++) {
        a[i + k * m] = rows[i][k];
      }
    }
    double[] work = new double[0];
    for (ReflectorBlock block : tall.reflectors()) {
      work = block.applyTransposed(a, m, width, work);
    }
    int[] number = tall.numbers();
    int n = width - tall.residualSquares().length;
    for (int k = 0; k < n; k++) {
      double norm = Reflectors.norm(a, k * m, m);
      for (int i = 0; i < tall.held(); i++) {
        double error = a[number[i] + k * m] - entry(tall, i, k);
        assertTrue(Math.abs(error) <= bound * norm, what + " Q'A at " + i + " " + k + ": " + error);
        a[number[i] + k * m] = 0;
      }
      assertTrue(
          Reflectors.norm(a, k * m, m) <= bound * norm, what + " something is left in column " + k);
    }
    assertTrue(scale != 0);
  }

  @Test
  void theOrderOfPiecesAndTheChunksChangeNothing() {
    double[][] rows = rows(new Random(5), 2600, 300, 2, 0, 1);
    TallQr one = factor(rows, 300, 2, 400, Crew.ALONE, false);
    TallQr other = factor(rows, 300, 2, 400, BACKWARDS, true);
    assertArrayEquals(one.triangle(), other.triangle());
    assertArrayEquals(one.residualSquares(), other.residualSquares());
    TallQr large = factor(rows, 300, 2, 2600, Crew.ALONE, false);
    // of the norm of a column, whose entries are 0 or of size 1
    double limit = Tolerances.of(2600, 300, Math.sqrt(2600 / 4.0));
    for (int j = 0; j < 300; j++) {
      for (int i = 0; i <= j; i++) {
        double same = Math.abs(entry(one, i, j)) - Math.abs(entry(large, i, j));
        assertEquals(0, same, limit, i + " " + j);
      }
    }
  }

  @Test
  void partsOfTheWorkAreHeardInOrder() {
    double[][] rows = rows(new Random(6), 2000, 300, 1, 0, 1);
    var tall = new TallQr(kernels, 300, 1, 500);
    List<Double> heard = new ArrayList<>();
    tall.heardBy(heard::add);
    IntConsumer reduced =
        i -> {
          assertTrue(heard.size() > 2, "chunk " + i + ": " + heard);
          for (int k = 1; k < heard.size(); k++) {
            assertTrue(heard.get(k) >= heard.get(k - 1), heard.toString());
          }
          assertTrue(heard.get(heard.size() - 1) > 0.8, heard.toString());
          heard.clear();
        };
    int chunks = 0;
    for (double[] row : rows) {
      if (tall.isFull()) {
        tall.reduce(Crew.ALONE);
        reduced.accept(chunks++);
      }
      int at = tall.open(leftmost(row, 300));
      for (int k = 0; k < row.length; k++) {
        tall.chunk()[at + k * tall.ld()] = row[k];
      }
    }
    assertTrue(chunks >= 3, "chunks: " + chunks);
  }

  @Test
  void rowsMustComeInOrder() {
    var tall = new TallQr(kernels, 4, 0, 6);
    tall.open(2);
    assertThrows(IllegalStateException.class, () -> tall.open(1));
    assertThrows(IllegalArgumentException.class, () -> new TallQr(kernels, 4, 0, 4));
  }
}
