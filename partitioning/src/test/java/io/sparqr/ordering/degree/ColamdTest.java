/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import static org.assertj.core.api.Assertions.assertThat;

import edu.ufl.cise.colamd.tdouble.Dcolamd;
import io.sparqr.ordering.FillCounter;
import io.sparqr.ordering.RandomPatterns;
import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class ColamdTest {

  /**
   * Sums of squared column counts under the order of libcolamd (SuiteSparse 5.12), default knobs,
   * of the distinct rows of {@link RandomPatterns#structuredAndRandom()} in their order.
   */
  private static final long[] LIBCOLAMD = {
    113293, 617293, 1980702, 7914519, 478562, 146741, 986328, 3287815, 9887252, 17018587, 351299,
    5324698, 13330703, 19530666, 757533
  };

  /** The problems that COLAMDJ can order; on the others it fails with a null pointer. */
  private static final int[] COLAMDJ = {4, 7, 8, 9, 10, 11, 12, 13, 14};

  @Test
  void flopsWithinTenPercentOfSuiteSparse() {
    List<SparsityPattern> problems = RandomPatterns.structuredAndRandom();
    assertThat(problems).hasSameSizeAs(LIBCOLAMD);
    for (int k = 0; k < LIBCOLAMD.length; k++) {
      assertThat(flops(problems.get(k), new Colamd().order(problems.get(k)).toArray()))
          .as("flops, problem %d", k)
          .isLessThanOrEqualTo(1.1 * LIBCOLAMD[k]);
    }
  }

  @Test
  void flopsWithinTenPercentOfTheJavaPort() {
    // The port's own assertions read debugging state that it never sets.
    ColamdTest.class.getClassLoader().setPackageAssertionStatus("edu.ufl.cise.colamd", false);
    List<SparsityPattern> problems = RandomPatterns.structuredAndRandom();
    for (int k : COLAMDJ) {
      SparsityPattern a = problems.get(k);
      assertThat(flops(a, new Colamd().order(a).toArray()))
          .as("flops, problem %d", k)
          .isLessThanOrEqualTo(1.1 * flops(a, javaPort(a)));
    }
  }

  private static double flops(SparsityPattern a, int[] order) {
    FillCounter.Graph g = FillCounter.Graph.of(a);
    return FillCounter.cholesky(g.n(), g.ptr(), g.adj(), order);
  }

  private static int[] javaPort(SparsityPattern a) {
    int m = a.patterns();
    int n = a.columns();
    BitSet[] columns = FillCounter.bitSets(n);
    for (int r = 0; r < m; r++) {
      for (long p = a.rowStart()[r]; p < a.rowStart()[r + 1]; p++) {
        columns[a.columnIndex()[(int) p]].set(r);
      }
    }
    int[] start = new int[n + 1];
    int nz = (int) a.patternEntries();
    int[] work = new int[Dcolamd.COLAMD_recommended(nz, m, n)];
    int k = 0;
    for (int j = 0; j < n; j++) {
      for (int r = columns[j].nextSetBit(0); r >= 0; r = columns[j].nextSetBit(r + 1)) {
        work[k++] = r;
      }
      start[j + 1] = k;
    }
    double[] knobs = new double[Dcolamd.COLAMD_KNOBS];
    Dcolamd.COLAMD_set_defaults(knobs);
    int ok = Dcolamd.colamd(m, n, work.length, work, start, knobs, new int[Dcolamd.COLAMD_STATS]);
    assertThat(ok).isEqualTo(1);
    return Arrays.copyOf(start, n);
  }
}
