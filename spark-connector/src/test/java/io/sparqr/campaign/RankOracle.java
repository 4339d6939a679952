/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;

/**
 * What may be said of the rank of A before it is solved: the exact one, and LAPACK's singular
 * values with NumPy's tolerance, with and without columns of equal norms. A set of singular values
 * says a rank r clearly if sigma_r is at least a thousand times the tolerance, and sigma_(r+1) at
 * most the tolerance.
 *
 * @param exact rank in exact arithmetic
 * @param independent columns that span the range, exact
 * @param equilibrated decomposition of A with columns of equal norms
 * @param plain decomposition of A
 * @param clear the rank that an answer must have; -1 if there is more than one plausible
 * @param least plausible rank
 */
record RankOracle(
    int exact, int[] independent, DenseSvd equilibrated, DenseSvd plain, int clear, int least) {

  /** The gap that makes a rank clear. */
  static final double GAP = 1e3;

  private static final ModularRank[] PRIMES = {
    ModularRank.ofSeed(20261126), ModularRank.ofSeed(20261127)
  };

  static RankOracle of(CsrMatrix a, Family.Kind kind) {
    int[] independent = PRIMES[0].independentColumns(a);
    DenseSvd equilibrated = DenseSvd.equilibrated(a);
    DenseSvd plain = DenseSvd.plain(a);
    int exact = independent.length;
    int byColumns = clear(equilibrated);
    int byEntries = clear(plain);
    if (byColumns != exact && exact < Math.min(a.rows(), a.columns())) {
      exact = Math.max(exact, PRIMES[1].rank(a));
    }
    int must = byColumns == exact || byEntries == exact ? exact : byColumns;
    boolean graded = kind == Family.Kind.GRADED && must != exact;
    int least = Math.min(equilibrated.above(GAP * equilibrated.tolerance()), exact);
    return new RankOracle(exact, independent, equilibrated, plain, graded ? -1 : must, least);
  }

  private static int clear(DenseSvd svd) {
    int r = svd.rank();
    return r == svd.above(GAP * svd.tolerance()) ? r : -1;
  }

  /** Whether a rank is wrong, for the options that look at columns of equal norms. */
  boolean wrong(int rank) {
    return clear >= 0 ? rank != clear : rank < least || rank > exact;
  }

  @Override
  public String toString() {
    return "exact %d, SVD %d, with equal columns %d, clear %s"
        .formatted(exact, plain.rank(), equilibrated.rank(), clear < 0 ? "no" : "" + clear);
  }
}
