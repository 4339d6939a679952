/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The choice within one component, and the decomposition into components. */
@Tag("numbers")
class OrthogonalChoiceTest {

  private static final long SEED = Long.getLong("test.seed", 20261127L);

  private static SparseVector vector(double... values) {
    int[] at = IntStream.range(0, values.length).filter(j -> values[j] != 0).toArray();
    return new SparseVector(at, Arrays.stream(at).mapToDouble(j -> values[j]).toArray());
  }

  /** The last column first. */
  private static int[] laterFirst(int n) {
    return IntStream.range(0, n).map(j -> n - 1 - j).toArray();
  }

  /** By hand: columns 3 and 2 have rows (0, 1) and (0, 2) of the null space, column 1 (1, 1). */
  @Test
  void skipsAColumnThatDependsOnDroppedOnes() {
    List<SparseVector> z = List.of(vector(1, 1, 0, 0), vector(0, 1, 2, 1));
    List<Elimination.Gone> gone = new OrthogonalChoice(z, laterFirst(4)).run(1e-8);
    assertThat(gone.stream().map(Elimination.Gone::column)).containsExactly(3, 1);
    SparseVector third = gone.get(0).vector();
    assertThat(third.column()).containsExactly(0, 2, 3);
    assertThat(third.value()).containsExactly(new double[] {-1, 2, 1}, within(Math.ulp(2.0)));
    SparseVector first = gone.get(1).vector();
    assertThat(first.column()).containsExactly(0, 1);
    assertThat(first.value()).containsExactly(new double[] {1, 1}, within(Math.ulp(1.0)));
  }

  /** A share of 1e-9 is enough for one threshold and not for another. */
  @Test
  void aThresholdLeavesAColumnWithASmallShare() {
    List<SparseVector> z = List.of(vector(1, 1, 1e-9));
    int[] place = laterFirst(3);
    assertThat(new OrthogonalChoice(z, place).run(1e-11).get(0).column()).isEqualTo(2);
    assertThat(new OrthogonalChoice(z, place).run(1e-8).get(0).column()).isEqualTo(1);
    assertThat(Elimination.run(z, place, 1e-11).get(0).column()).isEqualTo(2);
    assertThat(Elimination.run(z, place, 1e-8).get(0).column()).isEqualTo(1);
  }

  /**
   * Random null spaces whose columns shrink by up to 10^-8: a choice always exists, its
   * combinations are in the null space, and their growth is no more than the threshold allows.
   */
  @Test
  void findsAsManyColumnsAsThereAreVectors() {
    var random = new Random(SEED);
    for (int trial = 0; trial < 300; trial++) {
      int n = 4 + random.nextInt(40);
      int d = 1 + random.nextInt(n / 2);
      double[][] z = new double[d][n];
      for (int j = 0; j < n; j++) {
        double share = Math.pow(10, -8 * random.nextDouble());
        for (int k = 0; k < d; k++) {
          z[k][j] = share * random.nextGaussian();
        }
      }
      List<SparseVector> vectors = Arrays.stream(z).map(OrthogonalChoiceTest::vector).toList();
      double threshold = 0.5 / Math.sqrt(n);
      List<Elimination.Gone> gone = new OrthogonalChoice(vectors, laterFirst(n)).run(threshold);
      assertThat(gone).as("trial %d, seed %d", trial, SEED).hasSize(d);
      double[][] q = orthonormal(z);
      for (Elimination.Gone g : gone) {
        assertThat(g.vector().at(g.column())).isEqualTo(1);
        for (Elimination.Gone other : gone) {
          assertThat(other == g ? 0 : g.vector().at(other.column())).isZero();
        }
        assertThat(outside(q, g.vector(), n))
            .as("trial %d, seed %d", trial, SEED)
            .isLessThan(100 * n * Math.ulp(1.0) * g.vector().norm());
      }
    }
  }

  private static double[][] orthonormal(double[][] z) {
    var q = new ArrayList<double[]>();
    for (double[] v : z) {
      double[] w = v.clone();
      for (int pass = 0; pass < 3; pass++) {
        subtractProjection(q, w);
        double norm = Math.sqrt(Arrays.stream(w).map(x -> x * x).sum());
        Arrays.setAll(w, j -> w[j] / norm);
      }
      q.add(w);
    }
    return q.toArray(double[][]::new);
  }

  private static void subtractProjection(List<double[]> q, double[] w) {
    for (double[] u : q) {
      double dot = IntStream.range(0, w.length).mapToDouble(j -> u[j] * w[j]).sum();
      Arrays.setAll(w, j -> w[j] - dot * u[j]);
    }
  }

  private static double outside(double[][] q, SparseVector v, int n) {
    double[] w = new double[n];
    for (int i = 0; i < v.count(); i++) {
      w[v.column()[i]] = v.value()[i];
    }
    subtractProjection(List.of(q), w);
    subtractProjection(List.of(q), w);
    return Math.sqrt(Arrays.stream(w).map(x -> x * x).sum());
  }

  @Test
  void vectorsWithACommonColumnAreConnected() {
    List<SparseVector> z =
        List.of(
            vector(1, 0, 0, 0, 1),
            vector(0, 1, 0, 0, 0),
            vector(0, 0, 1, 1, 0),
            vector(0, 0, 0, 1, 1));
    List<int[]> found = Components.of(z, 5);
    assertThat(found).hasSize(2);
    assertThat(found.get(0)).containsExactly(0, 2, 3);
    assertThat(found.get(1)).containsExactly(1);
  }
}
