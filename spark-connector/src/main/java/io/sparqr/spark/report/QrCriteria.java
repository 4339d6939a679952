/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * How good a factorization A P = Q R is, by three criteria (Kerr, Campbell and Richards 2009, QR
 * Decomposition on GPUs, section 5): norms of A P - Q R and of the part of Q'A P below the
 * diagonal, both relative to ||A||, and of Q'Q - I. A is the matrix that was factorized: rows times
 * sqrt(weight), columns equilibrated, ridge rows below. All norms are those of Frobenius.
 *
 * <p>With at least as many probes as columns they are exact but for rounding. Otherwise ||(A P - Q
 * R) x|| and ||(Q'Q - I) x|| for random signs x, whose squares have the squares of the norms as
 * their expectation, and for the lower part as many columns of A, drawn at random.
 *
 * @param rows m, of positive weight, without ridge rows
 * @param columns n
 * @param rank rows of R
 * @param probes vectors that were used
 * @param exact whether these were all columns
 * @param residual ||A P - Q R|| / ||A||
 * @param orthogonality ||Q'Q - I||
 * @param lower ||lower part of Q'A P|| / ||A||, independent columns only
 * @param dropped what dependent columns may add to {@code residual}: the rank tolerance times the
 *     root of their number, relative to ||A||
 */
public record QrCriteria(
    long rows,
    int columns,
    int rank,
    int probes,
    boolean exact,
    double residual,
    double orthogonality,
    double lower,
    double dropped)
    implements Serializable {

  /**
   * c of the bounds that do not grow with m: the same that the check of a solution allows. Errors
   * of the columns add up as their squares, so that it is multiplied by sqrt(n) where n columns of
   * norm 1 are summed up.
   */
  private static final double C = 100;

  /** The distance from 1 to the next double, 2^-52. */
  private static final double EPS = Math.ulp(1.0);

  /** Nothing: the criteria were not asked for. */
  public static final QrCriteria NONE = new QrCriteria(0, 0, 0, 0, false, 0, 0, 0, 0);

  /** Whether they were measured. */
  public boolean made() {
    return probes > 0;
  }

  /** The bound of the paper for each of the three: m eps, with eps = 2^-52 for doubles. */
  public double paperBound() {
    return Math.max(rows, columns) * EPS;
  }

  /** c eps for {@code residual}, more by what dependent columns may add. */
  public double residualBound() {
    return C * EPS + dropped;
  }

  /** c eps sqrt(rank) for {@code orthogonality}: c eps for each column of Q. */
  public double orthogonalityBound() {
    return C * EPS * Math.sqrt(rank);
  }

  /** c eps for {@code lower}. */
  public double lowerBound() {
    return C * EPS;
  }

  /** Whether the three are within the bounds that do not grow with m. */
  public boolean met() {
    return residual <= residualBound()
        && orthogonality <= orthogonalityBound()
        && lower <= lowerBound();
  }

  /** The figures by name, as in JSON. */
  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("probes", probes);
    map.put("exact", exact);
    map.put("residual", residual);
    map.put("residualBound", residualBound());
    map.put("orthogonality", orthogonality);
    map.put("orthogonalityBound", orthogonalityBound());
    map.put("lower", lower);
    map.put("lowerBound", lowerBound());
    map.put("dropped", dropped);
    map.put("paperBound", paperBound());
    map.put("met", met());
    return map;
  }

  /** A JSON object. */
  public String toJson() {
    return SolveReport.json(toMap());
  }

  /** Four lines: the three figures with their bounds, and how they were found. */
  public String toText() {
    return line("||AP - QR|| / ||A|| =", residual, residualBound())
        + line("||Q'Q - I|| =", orthogonality, orthogonalityBound())
        + line("||lower part of R|| / ||A|| =", lower, lowerBound())
        + String.format(
            Locale.ROOT,
            "%s, %s; the paper allows m eps = %.1e\n",
            met() ? "met" : "NOT met",
            exact ? "of all columns" : String.format(Locale.ROOT, "by %,d random probes", probes),
            paperBound());
  }

  private static String line(String name, double value, double bound) {
    return String.format(Locale.ROOT, "%s %.2e (at most %.1e)\n", name, value, bound);
  }

  /** {@link #toText()}. */
  @Override
  public String toString() {
    return toText();
  }
}
