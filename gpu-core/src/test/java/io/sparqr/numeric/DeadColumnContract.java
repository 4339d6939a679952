/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.sparse.CsrMatrix;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which columns are dead, what they leave to the parent, and the norm of what they drop. */
interface DeadColumnContract extends BackendUnderTest {

  @Test
  default void emptyRowsAndColumns() {
    var random = new Random(3);
    double[][] a = new double[40][30];
    for (int i = 0; i < 40; i++) {
      for (int j = 0; j < 30; j++) {
        boolean there = i % 7 != 3 && j % 9 != 4 && random.nextInt(3) == 0;
        a[i][j] = there ? random.nextGaussian() : 0;
      }
    }
    var c =
        ContractCase.natural(
            "empty", TestMatrices.ofDense(a, 30, false), TestMatrices.vector(40, random), 1);
    var run = c.run(backend(), TaskRun.whole(c.analysis), 1);
    c.verify(run, -1);
    assertThat(run.factorization(c.ones(), c.tolerance, 1).deadColumns()).contains(4, 13, 22);
  }

  @Test
  default void repeatedColumnsAreTheDeadOnes() {
    var random = new Random(6);
    int n = 100;
    double[][] a = new double[150][n];
    for (double[] row : a) {
      for (int j = 0; j < n; j++) {
        row[j] = random.nextGaussian();
      }
      row[5] = row[2];
      row[31] = 0;
      row[32] = row[0] - row[3];
      row[64] = 3 * row[63];
      row[99] = row[98];
    }
    var c =
        ContractCase.natural(
            "repeated", TestMatrices.ofDense(a, n, true), TestMatrices.vector(150, random), 1);
    var run = c.run(backend(), TaskRun.whole(c.analysis), 1);
    c.verify(run, n - 5);
    assertThat(run.factorization(c.ones(), c.tolerance, 1).deadColumns())
        .containsExactly(5, 31, 32, 64, 99);
    assertThat(run.summary.droppedNorm()).isLessThanOrEqualTo(Math.sqrt(5) * c.tolerance);
  }

  @Test
  default void whatRankDetectionDropsIsAddedUpOverColumnsAndFronts() {
    // Row 1 of each block is 1 in all of its columns, row j has column j's remainder alone.
    double[][] remainders = {{3e-10}, {4e-10}, {12e-10, 84e-10}};
    double[][] a = new double[7][7];
    int at = 0;
    for (double[] block : remainders) {
      int first = at;
      for (int j = 0; j <= block.length; j++, at++) {
        a[first][at] = 1;
        if (j > 0) {
          a[at][at] = block[j - 1];
        }
      }
    }
    var c = ContractCase.natural("dropped", TestMatrices.ofDense(a, 7, false), new double[7], 1);
    assertThat(c.analysis.fronts()).isGreaterThan(1);
    var options = new FactorOptions(1e-7, 1, 0);
    var run =
        TaskRun.run(backend(), c.analysis, c.split().rows(), TaskRun.whole(c.analysis), options);
    assertThat(run.factorization(c.ones(), 1e-7, 1).deadColumns()).containsExactly(1, 3, 5, 6);
    assertThat(run.summary.droppedNorm()).isCloseTo(85e-10, within(Tolerances.of(7, 7, 85e-10)));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 31, 32, 33, 60})
  default void productsOfLowRank(int rank) {
    var random = new Random(rank);
    CsrMatrix a = TestMatrices.ofRank(130, 80, rank, random);
    var c = ContractCase.natural("rank " + rank, a, TestMatrices.vector(130, random), 1);
    c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), rank);
  }

  @Test
  default void incidenceMatrices() {
    for (long seed = 1; seed <= 5; seed++) {
      var random = new Random(seed);
      CsrMatrix a = TestMatrices.incidence(300, 120, random);
      var c = ContractCase.dissected("incidence " + seed, a, TestMatrices.vector(300, random), 1);
      c.verify(c.run(backend(), TaskRun.whole(c.analysis), 2), 119);
      c.verify(c.run(backend(), TaskRun.single(c.analysis), 1), 119);
    }
  }

  @Test
  default void deadColumnsLeaveMoreRowsToTheParent() {
    // Blocks share their last columns; in each, all but one of its own columns are equal, so that
    // contribution blocks have more rows than the pattern predicts.
    var random = new Random(9);
    double[][] a = new double[60][26];
    for (int i = 0; i < 60; i++) {
      int block = i / 20;
      double equal = random.nextGaussian();
      for (int j = 0; j < 6; j++) {
        a[i][6 * block + j] = j == 5 ? random.nextGaussian() : equal;
      }
      for (int j = 18; j < 26; j++) {
        a[i][j] = random.nextGaussian();
      }
    }
    var c =
        ContractCase.natural(
            "dead", TestMatrices.ofDense(a, 26, false), TestMatrices.vector(60, random), 1);
    assertThat(c.analysis.fronts()).isGreaterThan(1);
    c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), 14);
    c.verify(c.run(backend(), TaskRun.single(c.analysis), 1), 14);
  }

  @Test
  default void withoutDetectionEveryColumnWithARowIsLive() {
    var random = new Random(12);
    CsrMatrix a = TestMatrices.ofRank(60, 40, 10, random);
    var c = ContractCase.natural("off", a, TestMatrices.vector(60, random), 1);
    var run =
        TaskRun.run(
            backend(),
            c.analysis,
            c.split().rows(),
            TaskRun.whole(c.analysis),
            new FactorOptions(-1, 1, 0));
    assertThat(run.factorization(c.ones(), -1, 1).rank()).isEqualTo(40);
  }
}
