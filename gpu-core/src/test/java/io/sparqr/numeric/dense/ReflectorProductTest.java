/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Q and Q' by blocks and one reflector at a time, against the matrices I - tau v v' written out.
 */
class ReflectorProductTest {

  private static final long SEED = Long.getLong("test.seed", 48L);
  private static final int ROWS = 70;

  /** A staircase of reflectors on some rows of a front. */
  private static ReflectorBlock block(int[] segments, int rows, int count, Random random) {
    int[] first = new int[count];
    int[] length = new int[count];
    double[] tau = new double[count];
    var v = new ArrayList<Double>();
    for (int r = 0; r < count; r++) {
      first[r] = r;
      length[r] = Math.max(1, rows - r - random.nextInt(3));
      double square = 1;
      for (int i = 1; i < length[r]; i++) {
        v.add(2 * random.nextDouble() - 1);
        square += v.get(v.size() - 1) * v.get(v.size() - 1);
      }
      tau[r] = 2 / square;
    }
    double[] values = v.stream().mapToDouble(Double::doubleValue).toArray();
    return new ReflectorBlock(segments, first, length, tau, values);
  }

  /** H_last ... H_1 y, or H_1 ... H_last y, each H written out by the front's rows. */
  private static double[] expected(boolean transposed, ReflectorBlock b, double[] y) {
    int[] row = new int[b.rows()];
    int at = 0;
    for (int k = 0; k < b.segments().length; k += 2) {
      for (int i = 0; i < b.segments()[k + 1]; i++) {
        row[at++] = b.segments()[k] + i;
      }
    }
    int[] from = new int[b.count() + 1];
    for (int r = 0; r < b.count(); r++) {
      from[r + 1] = from[r] + b.length()[r] - 1;
    }
    double[] x = y.clone();
    for (int k = 0; k < b.count(); k++) {
      int r = transposed ? k : b.count() - 1 - k;
      double[] v = new double[ROWS];
      v[row[b.first()[r]]] = 1;
      for (int i = 1; i < b.length()[r]; i++) {
        v[row[b.first()[r] + i]] = b.v()[from[r] + i - 1];
      }
      double[] z = x.clone();
      for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
          z[i] -= b.tau()[r] * v[i] * v[j] * x[j];
        }
      }
      x = z;
    }
    return x;
  }

  @Test
  void agreesWithTheMatricesWrittenOut() {
    var random = new Random(SEED);
    int[][] segments = {{4, 60}, {50, 12, 3, 30}};
    for (int[] some : segments) {
      for (int count : new int[] {1, 9, 40}) {
        ReflectorBlock b = block(some, some.length == 2 ? 60 : 42, count, random);
        for (int width : new int[] {1, 6, ReflectorProduct.BLOCKED, 37}) {
          for (boolean transposed : new boolean[] {true, false}) {
            double[] y = random.doubles((long) ROWS * width, -1, 1).toArray();
            double[] z = y.clone();
            ReflectorProduct.apply(transposed, b, z, ROWS, width, new double[0]);
            for (int k = 0; k < width; k++) {
              double[] column = Arrays.copyOfRange(y, k * ROWS, (k + 1) * ROWS);
              Tolerances.requireClose(
                  Arrays.copyOfRange(z, k * ROWS, (k + 1) * ROWS),
                  expected(transposed, b, column),
                  Tolerances.of(ROWS, count, Tolerances.norm(column)),
                  "%d reflectors, column %d of %d, Q' %s, seed %d"
                      .formatted(count, k, width, transposed, SEED));
            }
          }
        }
      }
    }
  }

  @Test
  void piecesAreJoinedOnlyOnTheSameRows() {
    var random = new Random(SEED);
    int[] run = {0, 60};
    List<ReflectorBlock> pieces =
        List.of(
            block(run, 60, 9, random),
            block(run, 60, 20, random),
            block(run, 60, 9, random),
            block(new int[] {1, 60}, 60, 2, random),
            block(new int[] {1, 60}, 60, 3, random));
    List<ReflectorBlock> joined = ReflectorProduct.grouped(pieces);
    assertThat(joined.stream().map(ReflectorBlock::count)).containsExactly(29, 9, 5);
    double[] y = random.doubles(ROWS, -1, 1).toArray();
    double[] z = y.clone();
    pieces.forEach(b -> b.applyTransposed(y, ROWS, 1, new double[0]));
    joined.forEach(b -> b.applyTransposed(z, ROWS, 1, new double[0]));
    assertThat(z).isEqualTo(y);
  }
}
