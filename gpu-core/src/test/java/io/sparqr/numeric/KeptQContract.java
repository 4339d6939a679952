/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.sparse.CsrMatrix;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reflectors that are kept turn any right-hand side into Q'b. */
interface KeptQContract extends BackendUnderTest {

  @ParameterizedTest
  @ValueSource(longs = {31, 32, 33, 34, 35, 36})
  default void keptReflectorsGiveQTransposedTimesAnyRightHandSide(long seed) {
    var random = new Random(seed);
    int n = 20 + random.nextInt(150);
    int m = n / 2 + random.nextInt(3 * n);
    CsrMatrix a = TestMatrices.sparse(m, n, 1 + random.nextInt(4), random);
    var c = ContractCase.dissected("seed " + seed, a, TestMatrices.vector(m, random), 1);
    c.verifyKeptQ(backend(), TaskRun.whole(c.analysis), 2);
    c.verifyKeptQ(backend(), TaskRun.single(c.analysis), 1);
    c.verifyKeptQ(backend(), TaskRun.subtrees(c.analysis, 4), 2);
  }

  @Test
  default void keptReflectorsOfFrontsOfManyShapes() {
    for (int m : new int[] {1, 31, 33, 96, 300}) {
      for (int n : new int[] {1, 32, 65, 150}) {
        var random = new Random(1000L * m + n);
        CsrMatrix a = TestMatrices.dense(m, n, random);
        for (int nrhs : new int[] {0, 1, 3}) {
          double[] b = TestMatrices.vector(m * nrhs, random);
          ContractCase.natural(m + " x " + n + ", " + nrhs + " rhs", a, b, nrhs)
              .verifyKeptQ(backend(), new int[1], 2);
        }
      }
    }
    var random = new Random(77);
    CsrMatrix stairs = TestMatrices.staircase(300, 100, random);
    var c = ContractCase.natural("staircase", stairs, TestMatrices.vector(300, random), 1);
    c.verifyKeptQ(backend(), TaskRun.whole(c.analysis), 1);
  }

  @Test
  default void keptReflectorsWithDeadAndEmptyColumns() {
    for (int rank : new int[] {1, 7, 33}) {
      var random = new Random(rank);
      CsrMatrix a = TestMatrices.ofRank(130, 80, rank, random);
      var c = ContractCase.natural("rank " + rank, a, TestMatrices.vector(130, random), 1);
      c.verifyKeptQ(backend(), TaskRun.whole(c.analysis), 1);
    }
    for (long seed = 1; seed <= 3; seed++) {
      var random = new Random(seed);
      CsrMatrix a = TestMatrices.incidence(300, 120, random);
      var c = ContractCase.dissected("incidence " + seed, a, TestMatrices.vector(300, random), 1);
      c.verifyKeptQ(backend(), TaskRun.whole(c.analysis), 2);
      c.verifyKeptQ(backend(), TaskRun.single(c.analysis), 1);
    }
    var random = new Random(3);
    double[][] holes = new double[40][30];
    for (int i = 0; i < 40; i++) {
      for (int j = 0; j < 30; j++) {
        boolean there = i % 7 != 3 && j % 9 != 4 && random.nextInt(3) == 0;
        holes[i][j] = there ? random.nextGaussian() : 0;
      }
    }
    CsrMatrix a = TestMatrices.ofDense(holes, 30, false);
    var c = ContractCase.natural("empty", a, TestMatrices.vector(40, random), 1);
    c.verifyKeptQ(backend(), TaskRun.whole(c.analysis), 1);
  }
}
