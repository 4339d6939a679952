/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import io.sparqr.numeric.Probe;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.SingularValueDecomposition;

/**
 * The second look at a rank that Heath's pivot test has found. A pivot says what remains of a
 * column, beside the column's norm; it does not say how exact the columns are that were taken out
 * of it. So the test can be wrong both ways:
 *
 * <ul>
 *   <li>A column that depends on others keeps a pivot far above the tolerance if the combination
 *       has large coefficients, as in a network of unequal weights: the pivot is the rounding error
 *       of the combination, which is larger than that of the column.
 *   <li>A column can have a remainder below the tolerance, which grows with the problem, and yet be
 *       exact to many digits.
 * </ul>
 *
 * The smallest singular values of R, with columns of norm 1, decide both: they move by no more than
 * the rounding errors of the factorization, a few eps, whatever the coefficients. So a matrix is
 * taken for singular where sigma is at most {@link #rounding}. Looked at only where ||R^-1 w||
 * gives a reason to, and where dropped remainders and what is kept have no gap between them; then
 * the matrix is factored once more, with the dependent columns ordered last, where the pivot test
 * finds them, or with a tolerance as small as rounding errors.
 */
public final class RankReview {

  /** From this condition on columns are named, and the user is warned. */
  public static final double WARNED = 1e7;

  /** ||R^-1 w|| from which on the smallest singular value is computed. */
  private static final double SUSPICIOUS = 1e5;

  /** What was dropped, relative to the smallest singular value kept: above this, no gap. */
  private static final double GAP = 1e-3;

  /** The gap that makes a rank clear. */
  private static final double CLEAR = 1e5;

  /** Factorizations at most for one rank, after the first. */
  static final int MOST_ROUNDS = 6;

  /** A tolerance that drops columns only if nothing is left of them. */
  static final double NONE_DROPPED = Math.ulp(1.0) / 64;

  /**
   * The rank is cut at the largest gap between singular values within this factor of the rounding
   * level, so that it does not hang on the last bits of a value beside the level.
   */
  private static final double WINDOW = 30;

  /** Vectors of the first block, and at most. */
  private static final int FIRST_WIDTH = 4;

  private static final int MOST_WIDTH = 128;

  /** Values of a block at most, 64 MB. */
  private static final long MOST_VALUES = 8 << 20;

  /** Entries of a vector of at least this fraction of its largest name their columns. */
  private static final double NAMED = 0.05;

  private static final int MOST_NAMES = 20;

  private final SymbolicAnalysis analysis;
  private final RankRequest request;
  private final Found found;

  /**
   * What the factorization has found.
   *
   * @param dead positions of dependent columns
   * @param dropped 2-norm of what the pivot test has dropped
   * @param probed ||R^-1 w||
   * @param probe R^-1 w by position, of columns of norm 1; its receiver's
   * @param decides whether the review may change the rank: the default test on equilibrated columns
   */
  public record Found(
      int[] dead, double dropped, double probed, Supplier<double[]> probe, boolean decides) {}

  /**
   * The outcome.
   *
   * @param again what the next factorization is asked; empty: this one stands
   * @param condition of R with columns of norm 1
   * @param warnings for the user
   */
  public record Outcome(Optional<RankRequest> again, Condition condition, List<String> warnings) {}

  /** Reviews a factorization that was asked for this. */
  public RankReview(SymbolicAnalysis analysis, RankRequest request, Found found) {
    this.analysis = analysis;
    this.request = request;
    this.found = found;
  }

  /**
   * The largest singular value, of columns of norm 1, that rounding errors explain: 10 sqrt(n) eps.
   * The errors of a factorization are a few eps in each column and nearly independent, so that
   * their 2-norm is far below the bounds that are proved for them (Higham 2002, section 19.3, and
   * the statistics of Higham and Mary 2019, SIAM J. Sci. Comput. 41).
   */
  public static double rounding(int columns) {
    return 10 * Math.sqrt(columns) * Math.ulp(1.0);
  }

  private double level() {
    return rounding(analysis.columns());
  }

  private double probed() {
    return found.probed;
  }

  /** Whether the rank and the condition stand without another reading of R. */
  public boolean clear() {
    double probe = probed();
    return probe <= SUSPICIOUS && !noGap(probe) && !request.reviewed();
  }

  /**
   * As above, for a factorization that has not kept R: a look costs another factorization, for
   * which many columns of an ordinary condition must not be a reason.
   */
  public boolean clearEnough() {
    double probe = probed();
    double many = Math.max(1, Math.sqrt(analysis.columns()) / 100);
    return probe <= SUSPICIOUS * many && !noGap(probe);
  }

  /** Whether what was dropped is more than rounding errors and not far below what is kept. */
  private boolean noGap(double inverse) {
    return found.decides
        && found.dead.length > 0
        && found.dropped > level()
        && !(found.dropped * inverse <= GAP);
  }

  /** The outcome where no look at R is needed, or possible. */
  public Outcome unseen() {
    return settled(new Condition(Math.max(1, probed()), new int[0]), List.of());
  }

  /** Looks at the singular values. */
  public Outcome of(ScaledFactor r) {
    int rank = analysis.columns() - found.dead.length;
    if (rank == 0) {
      return unseen();
    }
    double limit = found.decides ? WINDOW * level() : 0;
    var smallest = SmallestSingularValues.of(r, found.probe.get(), 1, limit);
    double condition = Math.max(1, 1 / smallest.sigma()[0]);
    boolean more = request.round() < MOST_ROUNDS;
    if (more && noGap(condition) && request.tolerance().isEmpty()) {
      return again(request.search());
    }
    if (condition <= WARNED) {
      return settled(new Condition(condition, new int[0]), List.of());
    }
    SmallestSingularValues block = block(r, rank, limit);
    boolean seen = Double.isFinite(1 / block.sigma()[0]);
    int count = found.decides ? dependent(block) : 0;
    boolean all = count == block.count() && count < rank;
    if (more && count > 0 && request.tolerance().isEmpty() && !clearCut(block, count)) {
      return again(request.search());
    }
    if (more && count > 0) {
      return again(all && searches() || !seen ? request.givenUp() : last(block, count));
    }
    return settled(
        new Condition(Math.max(condition, 1 / block.sigma()[0]), names(block)),
        count == 0
            ? List.of()
            : List.of(
                "the rank is not certain: %d singular values of R are still at rounding level"
                    .formatted(count)));
  }

  /** Whether no columns were dropped, so that R is not yet one to solve with. */
  private boolean searches() {
    return request.tolerance().isPresent() && request.tolerance().getAsDouble() < level();
  }

  /** Whether a gap shows how many singular values are 0. */
  private static boolean clearCut(SmallestSingularValues block, int count) {
    double[] s = block.sigma();
    return count < s.length && s[count] > CLEAR * Math.max(s[count - 1], Math.ulp(1.0));
  }

  /** The number of singular values at rounding level: up to the largest gap beside it. */
  private int dependent(SmallestSingularValues block) {
    double[] s = block.sigma();
    int best = block.countTo(level() / WINDOW);
    double widest = 0;
    for (int c = best; c <= block.countTo(WINDOW * level()) && c < s.length; c++) {
      double below = Math.max(c == 0 ? 0 : s[c - 1], level() / WINDOW);
      if (s[c] / below > widest) {
        widest = s[c] / below;
        best = c;
      }
    }
    return block.countTo(WINDOW * level()) == s.length ? s.length : best;
  }

  /** More vectors as long as all singular values are near the rounding level. */
  private SmallestSingularValues block(ScaledFactor r, int rank, double limit) {
    int most = (int) Math.min(Math.min(rank, MOST_WIDTH), MOST_VALUES / analysis.columns());
    int width = Math.max(1, Math.min(FIRST_WIDTH, most));
    while (true) {
      var block = SmallestSingularValues.of(r, begin(r, width), width, limit);
      if (block.countTo(limit) < width || width >= most) {
        return block;
      }
      width = Math.min(2 * width, most);
    }
  }

  /** The probe's solution, and values in all directions. */
  private double[] begin(ScaledFactor r, int width) {
    double[] v = r.vectors(width);
    double[] probe = found.probe.get();
    double norm = probed();
    for (int p = 0; p < v.length / width; p++) {
      v[p * width] = probe[p] / norm;
      for (int k = 1; k < width; k++) {
        v[p * width + k] = Probe.value(k * analysis.columns() + p);
      }
    }
    return v;
  }

  /** The request with the columns that stand for the smallest singular values ordered last. */
  private RankRequest last(SmallestSingularValues block, int count) {
    int[] chosen =
        ColumnSubset.of(
            block.vectors(), block.count(), count, p -> analysis.permutation().original(p));
    IntStream columns = Arrays.stream(chosen).map(p -> analysis.permutation().original(p));
    double largest = block.sigma()[count - 1];
    if (!searches()) {
      int[] all = IntStream.concat(Arrays.stream(request.last()), columns).distinct().toArray();
      return request.tolerance().isEmpty()
          ? request.withLast(all, largest)
          : request.withLast(all, Math.max(largest, request.leftOut()), level(), request.shrink());
    }
    // A V = S, ||S|| = largest: the columns' remainders are at most ||S V_J^-1||, to rounding.
    double most = 4 * largest / leastOf(block, chosen, count);
    double shrink = Math.scalb(1.0, Math.min(0, Math.getExponent(level() / most)));
    return request.withLast(columns.toArray(), largest, level(), shrink);
  }

  /** The smallest singular value of the vectors' rows at the chosen positions. */
  private static double leastOf(SmallestSingularValues block, int[] chosen, int count) {
    double[][] rows = new double[count][count];
    for (int c = 0; c < count; c++) {
      for (int k = 0; k < count; k++) {
        rows[c][k] = block.vectors()[chosen[c] * block.count() + k];
      }
    }
    double[] s =
        new SingularValueDecomposition(new Array2DRowRealMatrix(rows, false)).getSingularValues();
    return s[count - 1];
  }

  /** The columns with large entries in the vectors of singular values below 1 / WARNED. */
  private int[] names(SmallestSingularValues block) {
    int n = analysis.columns();
    double[] most = new double[n];
    for (int k = 0; k < Math.max(1, block.countTo(1 / WARNED)); k++) {
      double[] v = block.vector(k);
      double largest = Arrays.stream(v).map(Math::abs).max().orElse(0);
      for (int p = 0; p < n && largest > 0; p++) {
        int j = analysis.permutation().original(p);
        most[j] = Math.max(most[j], Math.abs(v[p]) / largest);
      }
    }
    return IntStream.range(0, n)
        .filter(j -> most[j] >= NAMED)
        .boxed()
        .sorted((a, b) -> Double.compare(most[b], most[a]))
        .limit(MOST_NAMES)
        .mapToInt(j -> j)
        .sorted()
        .toArray();
  }

  private Outcome again(RankRequest next) {
    return new Outcome(Optional.of(next), Condition.UNKNOWN, List.of());
  }

  private Outcome settled(Condition condition, List<String> further) {
    var warnings = new ArrayList<>(further);
    if (request.last().length > 0) {
      int count = request.last().length;
      warnings.add(
          String.format(
              Locale.ROOT,
              "singular values of R show %d dependent column%s that no pivot showed (sigma at most"
                  + " %.1e): factored again with %s ordered last",
              count,
              count == 1 ? "" : "s",
              request.leftOut(),
              count == 1 ? "it" : "them"));
    }
    double kept = 1 / condition.estimate();
    if (request.reviewed() && kept < 1e3 * Math.max(request.leftOut(), Math.ulp(1.0))) {
      warnings.add(
          String.format(
              Locale.ROOT,
              "the rank is a matter of the tolerance: the smallest singular value kept is %.1e,"
                  + " and there is no gap below it",
              kept));
    }
    return new Outcome(Optional.empty(), condition, warnings);
  }
}
