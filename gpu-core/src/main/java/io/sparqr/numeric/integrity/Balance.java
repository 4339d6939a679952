/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import java.util.BitSet;

/**
 * The comparison of sums over a task's input with sums over its output, and its bound.
 *
 * <p>An orthogonal transformation keeps the Gram matrix, and with it every column's norm^2 and
 * every a_j'(A u). Let W be the rows scaled ({@link ColumnProbe}), w_j a column of it, and let a
 * column pass through at most {@code steps} reflectors on its way ({@link Steps}). By Higham
 * (Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 19.3 and theorem 19.4) the output
 * is an exact orthogonal transformation of W + dW with ||dw_j|| <= c steps eps ||w_j|| for every
 * column; block reflectors are no worse (section 19.5). c stands for the error of a reflector's
 * sums, which grows at most with their length n, and with its root if rounding errors do not all
 * have one sign; sums in blocks keep it small. Hence, to first order,
 *
 * <pre>
 *   | ||w_j'||^2 - ||w_j||^2 |  = | 2 w_j'dw_j |                   <= 2 c steps eps ||w_j||^2
 *   | w_j''p' - w_j'p |         = | dw_j'p + w_j'dp |              <= c steps eps ||w_j|| (||p|| + F)
 * </pre>
 *
 * <p>with p = t + g for a column and p = t for a right-hand side, t = W 1, g = r C 1 for the scaled
 * right-hand sides C and their weight r ({@link ColumnProbe#right}), F = ||dp|| / (c steps eps). F
 * is the sum of the norms of the columns in the worst case; the signs of u are random, so that ||dW
 * 1 + r dC 1|| is about the root of the sum of squares: F = sqrt(columns + 1), the norms being
 * below 1 and r^2 rhs too. The sums themselves add 2 eps each (they are compensated across fronts)
 * and, within a front, its rows' number times eps, at most steps eps. With c = 1, and 1 for the
 * sums, the constants would be 3; {@link #PER_STEP} is 4. {@link #FIXED} covers scaling, rounding
 * of t and fixed-point sums on a device.
 *
 * <p>||p|| is known from the sums. Those of the columns give t'(t + g) = sum of u_j a_j'(t + g),
 * those of the right-hand sides g't = r sum of c_q't. So
 *
 * <pre>
 *   t't         = t'(t + g) - g't
 *   ||t + g||^2 = t'(t + g) + g't + g'g      both at most  t'(t + g) + |g't| + g'g
 * </pre>
 *
 * <p>and g'g is at most min(rhs, 16): products of two right-hand sides are in no sum, because of
 * what is left of them below R only the squares are known.
 *
 * <p>What this sees: a change d of entry (i, q) of Q'b changes the sum of every column with an
 * entry in row i by w_ij r s_q d, where the sum of the right-hand side itself changes by s_q d t_i
 * and t_i may be nearly 0 by chance. A change d of w_ij changes all sums of row i alike.
 *
 * <p>A dead column j has lost a part of norm d_j, at most the tolerance (Heath 1982): the output is
 * a transformation of W - E, where column j of E has norm d_j; right-hand sides lose nothing. So
 * its products may differ by d_j ||p||, and those of any column by ||w_j|| ||E 1||, which is 0 if
 * no dead column is in the probe and {@value #DROPPED_SIGMAS} times the root of the sum of squares
 * at most otherwise, as the signs are random.
 */
public final class Balance {

  /** Multiple of eps per reflector that a column passes through. */
  static final double PER_STEP = 4;

  /** Fixed multiple of eps for any number of steps. */
  static final double FIXED = 64;

  private static final double EPS = Math.ulp(1.0);

  /** ||E 1|| over the root of the sum of squares of the dropped norms in the probe, at most. */
  private static final double DROPPED_SIGMAS = 4;

  /** Columns compared by one thread at a time. */
  private static final int CHUNK = 1 << 15;

  /** Scaled columns have norms from this to 1, except those near the denormals. */
  private static final double LEAST_NORM = 0.25;

  private final TaskColumns columns;
  private final ColumnProbe probe;
  private final ColumnSums in;
  private final double bound;
  private final double probeNorm;
  private final int threads;

  /**
   * A comparison with the sums of the input.
   *
   * @param steps largest number of reflectors that a column passes through
   * @param threads host threads for the comparison
   */
  public Balance(TaskColumns columns, ColumnProbe probe, ColumnSums in, long steps, int threads) {
    this.columns = columns;
    this.probe = probe;
    this.in = in;
    this.threads = threads;
    bound = bound(steps);
    probeNorm = probeNorm(probe, in);
  }

  /** The largest relative departure that rounding explains, after that many steps. */
  static double bound(long steps) {
    return (FIXED + PER_STEP * steps) * EPS;
  }

  /** A bound of ||t|| and ||t + g|| from the sums; at least 1. */
  static double probeNorm(ColumnProbe probe, ColumnSums in) {
    double columns = 0;
    for (int j = 0; j < probe.columns(); j++) {
      columns += probe.u()[j] == 0 ? 0 : probe.u()[j] / probe.scale()[j] * in.probe(j);
    }
    double right = 0;
    for (int q = 0; q < probe.rhs(); q++) {
      right += probe.right() * in.probe(probe.columns() + q);
    }
    double squares = columns + Math.abs(right) + ColumnProbe.rightSquares(probe.rhs());
    return Math.sqrt(Math.max(1, squares));
  }

  /** What departures of probes are relative to, but for the column's norm: ||t + g|| + F. */
  static double weight(double probeNorm, int columns, int rhs) {
    return probeNorm + Math.sqrt(columns + Math.min(rhs, 1));
  }

  /**
   * Compares the sums.
   *
   * @param out sums over rows of R and blocks
   * @param residualSquares size rhs: squares of right-hand sides that end in this task
   * @param dead numbers of dead columns
   * @param dropped 2-norm that a dead column may have lost, in the columns' own units
   * @return the largest relative departure
   * @throws IntegrityFailure with the worst departure if it exceeds the bound or is NaN
   */
  public double verify(ColumnSums out, double[] residualSquares, BitSet dead, double dropped) {
    return accept(worst(out, residualSquares, dead, dropped));
  }

  /** The largest relative departure without comparing it to the bound; NaN if a sum is NaN. */
  public double departure(ColumnSums out, double[] residualSquares) {
    return worst(out, residualSquares, new BitSet(), 0).departure;
  }

  /** Whether a departure is within the bound. */
  public static boolean within(double departure, long steps) {
    return departure <= bound(steps);
  }

  private Worst worst(ColumnSums out, double[] residualSquares, BitSet dead, double dropped) {
    int n = out.columns();
    double lost = lostProbe(dead, dropped);
    var parts = new Worst[(n + CHUNK - 1) / CHUNK];
    OrderedChunks.run(
        parts.length,
        threads,
        () ->
            new OrderedChunks.Worker() {
              @Override
              public void compute(int chunk) {
                int end = Math.min(n, (chunk + 1) * CHUNK);
                parts[chunk] = worst(chunk * CHUNK, end, out, residualSquares, dead, dropped, lost);
              }

              @Override
              public void takeOver(int chunk) {
                // Every chunk writes to its own place.
              }
            });
    Worst all = new Worst(0, -1, "");
    for (Worst part : parts) {
      all = all.or(part);
    }
    return all;
  }

  /** The largest departure (NaN counts as the largest) and its column. */
  private record Worst(double departure, int column, String what) {
    Worst or(Worst other) {
      boolean keeps = Double.isNaN(departure) || other.departure <= departure;
      return keeps ? this : other;
    }
  }

  /** ||E 1||. */
  private double lostProbe(BitSet dead, double dropped) {
    double squares = 0;
    for (int j = dead.nextSetBit(0); j >= 0 && j < probe.columns(); j = dead.nextSetBit(j + 1)) {
      double lost = dropped * probe.u()[j];
      squares += lost * lost;
    }
    return DROPPED_SIGMAS * Math.sqrt(squares);
  }

  private Worst worst(
      int from,
      int to,
      ColumnSums out,
      double[] residualSquares,
      BitSet dead,
      double dropped,
      double lostProbe) {
    double weight = weight(probeNorm, probe.columns(), probe.rhs());
    double worst = 0;
    int at = -1;
    String what = "";
    for (int j = from; j < to && !Double.isNaN(worst); j++) {
      double norm = Math.max(in.squares(j), LEAST_NORM * LEAST_NORM);
      double squares = squaresMissing(j, out, residualSquares, dead, dropped);
      double product = Math.abs(in.probe(j) - out.probe(j));
      if (lostProbe > 0 || dead.get(j)) {
        double lost = dead.get(j) ? dropped * Math.abs(probe.scale()[j]) * probeNorm : 0;
        product = Math.max(0, product - lost - lostProbe * Math.sqrt(norm));
      }
      double least = worst * norm;
      if (squares <= least && product * product <= worst * least * weight * weight) {
        // The common case, without quotient and root. NaN does not get here.
        continue;
      }
      squares /= norm;
      product /= Math.sqrt(norm) * weight;
      // NaN counts as the worst: Math.max keeps it, and the loop ends with it.
      double more = Math.max(squares, product);
      if (!(more <= worst)) {
        worst = more;
        at = j;
        what = more == product ? "probe" : "norm^2";
      }
    }
    return new Worst(worst, at, what);
  }

  private double accept(Worst found) {
    double worst = found.departure;
    int at = found.column;
    if (!(worst <= bound)) {
      int n = columns.count();
      throw new IntegrityFailure(
          found.what, at < n ? columns.position(at) : -1 - (at - n), worst, bound);
    }
    return worst;
  }

  /** Departure of the norm^2 of column j. */
  private double squaresMissing(
      int j, ColumnSums out, double[] residualSquares, BitSet dead, double dropped) {
    double expected = in.squares(j);
    double s = probe.scale()[j];
    double found = out.squares(j);
    if (j >= probe.columns()) {
      if (Math.abs(Math.getExponent(s)) > 450) {
        // The residual's squares, in the right-hand side's units, overflow a double.
        return Double.isNaN(found) ? Double.NaN : 0;
      }
      found += residualSquares[j - probe.columns()] * s * s;
    }
    double missing = expected - found;
    if (dead.get(j)) {
      double lost = dropped * s;
      missing = missing > 0 ? Math.max(0, missing - lost * lost) : missing;
    }
    return Math.abs(missing);
  }
}
