/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.sparse.CsrMatrix;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Solves with R where it was made: x alone instead of R, and later right-hand sides. */
interface SolveContract extends BackendUnderTest {

  @Test
  default void solutionsAlone() {
    for (int[] size : new int[][] {{1, 1}, {40, 33}, {300, 290}, {700, 520}}) {
      var random = new Random(size[0]);
      CsrMatrix a = TestMatrices.dense(size[0], size[1], random);
      var c = ContractCase.natural("dense " + size[0], a, TestMatrices.vector(size[0], random), 1);
      assertThat(c.verifySolution(backend(), 2)).as(c.name).isEqualTo(solvesInPlace());
    }
    for (int seed : Sampling.numbers(12).map(k -> k + 1).toArray()) {
      var random = new Random(seed);
      int nrhs = 1 + random.nextInt(3);
      int n = 20 + random.nextInt(300);
      CsrMatrix a = TestMatrices.sparse(4 * n, n, 1 + random.nextInt(4), random);
      double[] b = TestMatrices.vector(a.rows() * nrhs, random);
      ContractCase.dissected("seed " + seed, a, b, nrhs).verifySolution(backend(), 2);
    }
    CsrMatrix grid = Gallery.generate("gen:cells2d40");
    double[] b = TestMatrices.vector(2 * grid.rows(), new Random(7));
    var c = ContractCase.dissected("grid", grid, b, 2);
    assertThat(c.verifySolution(backend(), 3)).as(c.name).isEqualTo(solvesInPlace());
  }

  @Test
  default void solutionsAloneOfDeadColumnsComeAsR() {
    var random = new Random(9);
    CsrMatrix a = TestMatrices.dense(30, 60, random);
    var c = ContractCase.natural("wide", a, TestMatrices.vector(30, random), 1);
    assertThat(c.verifySolution(backend(), 2)).isFalse();
  }

  /** R where it was made solves R'R x = c, as the R that was returned would. */
  @Test
  default void laterSolves() {
    for (int[] size : new int[][] {{1, 1}, {40, 33}, {300, 290}, {700, 520}}) {
      var random = new Random(size[0]);
      CsrMatrix a = TestMatrices.dense(size[0], size[1], random);
      var c = ContractCase.natural("dense " + size[0], a, TestMatrices.vector(size[0], random), 1);
      assertThat(c.verifyLater(backend(), 2, 2, random)).as(c.name).isEqualTo(solvesInPlace());
    }
    for (int seed : Sampling.numbers(12).map(k -> k + 1).toArray()) {
      var random = new Random(seed);
      int nrhs = random.nextInt(3);
      int n = 20 + random.nextInt(300);
      CsrMatrix a = TestMatrices.sparse(4 * n, n, 1 + random.nextInt(4), random);
      double[] b = TestMatrices.vector(a.rows() * nrhs, random);
      ContractCase.dissected("seed " + seed, a, b, nrhs)
          .verifyLater(backend(), 2, 1 + random.nextInt(3), random);
    }
    CsrMatrix grid = Gallery.generate("gen:cells2d40");
    var random = new Random(7);
    double[] b = TestMatrices.vector(2 * grid.rows(), random);
    var c = ContractCase.dissected("grid", grid, b, 2);
    assertThat(c.verifyLater(backend(), 3, 1, random)).as(c.name).isEqualTo(solvesInPlace());
  }

  /** R in several tasks, most of them parts of a tree, solves up the tree and down. */
  @Test
  default void laterSolvesInTasks() {
    int[] seeds = Sampling.numbers(16, 0, 1, 2).map(k -> k + 1).toArray();
    int cut = 0;
    for (int seed : seeds) {
      var random = new Random(100 + seed);
      int nrhs = random.nextInt(3);
      int n = 20 + random.nextInt(300);
      CsrMatrix a = TestMatrices.sparse(4 * n, n, 1 + random.nextInt(4), random);
      double[] b = TestMatrices.vector(a.rows() * nrhs, random);
      var c = ContractCase.dissected("seed " + seed, a, b, nrhs);
      int[] tasks = TaskRun.subtrees(c.analysis, 1 + random.nextInt(c.analysis.fronts()));
      cut += c.verifyLaterInTasks(backend(), tasks, 1 + random.nextInt(3), random) > 0 ? 1 : 0;
    }
    // Of 69 fronts: the last cut is a task a front, and a sanitizer takes long over each launch.
    CsrMatrix grid = Gallery.generate("gen:cells2d24");
    var random = new Random(7);
    double[] b = TestMatrices.vector(2 * grid.rows(), random);
    var c = ContractCase.dissected("grid", grid, b, 2);
    for (int[] tasks : new int[][] {TaskRun.subtrees(c.analysis, 12), TaskRun.single(c.analysis)}) {
      long parts = c.verifyLaterInTasks(backend(), tasks, 2, random);
      assertThat(parts > 4).as("%d parts of a tree", parts).isEqualTo(solvesInPlace());
    }
    if (solvesInPlace()) {
      assertThat(cut).as("of %d trees, cut", seeds.length).isGreaterThanOrEqualTo(seeds.length / 4);
    } else {
      assertThat(cut).as("of %d trees, cut", seeds.length).isZero();
    }
  }

  @Test
  default void deadColumnsDoNotStay() {
    var random = new Random(9);
    CsrMatrix a = TestMatrices.dense(30, 60, random);
    var c = ContractCase.natural("wide", a, TestMatrices.vector(30, random), 1);
    assertThat(c.verifyLater(backend(), 2, 1, random)).isFalse();
  }
}
