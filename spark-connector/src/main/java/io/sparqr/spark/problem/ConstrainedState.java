/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.spark.factorization.Earlier;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.jspecify.annotations.Nullable;

/**
 * min ||b - A x|| subject to C x = d, by QR of S = [A; T C] with the right-hand side [b; T d].
 * Where the constraints hold, the added rows have residual 0, so the constrained minimizer is that
 * for S,
 *
 * <pre>
 * x = x_S + R^-1 Q_Y R_Y^-T T (d - C x_S),   Y = R^-T (T C)' = Q_Y R_Y, n x p,
 * </pre>
 *
 * where x_S is the minimizer without constraints, followed by one step of refinement by the same
 * formula (Bjorck 1996, Numerical Methods for Least Squares Problems, sec. 5.1; Golub and Van Loan
 * 2013, Matrix Computations, sec. 6.2). A may be rank-deficient: for a unique x only S must have
 * full column rank. The squared residual is that of S plus ||R_Y^-T T (d - C x_S)||^2.
 *
 * <p>Cost: p forward substitutions in batches, and 8 n p bytes on the driver.
 */
public final class ConstrainedState implements AutoCloseable {

  /** Constraints per forward substitution. */
  static final int BATCH = 32;

  /**
   * A variance, computed as a difference, counts as 0 below this multiple of n times the minuend.
   */
  private static final double ROUNDING = 1e3 * Math.ulp(1.0);

  private final FactorState state;
  private final ConstraintRows scaled;
  private final List<SparseRow> constraints;
  private final ThinQr y;
  private double @Nullable [][] multipliers;
  private @Nullable LeastSquaresSolution solution;

  private ConstrainedState(
      FactorState state, ConstraintRows scaled, LinearConstraints constraints) {
    this.state = state;
    this.scaled = scaled;
    this.constraints = constraints.rows();
    this.y = new ThinQr(constraints.count());
  }

  /** Factorizes; the caller must close the result. */
  public static ConstrainedState factorize(
      RowSource source,
      LinearConstraints constraints,
      SolveOptions options,
      ProgressListener listener) {
    var scaled = new ConstraintRows(source, constraints);
    JavaRDD<SparseRow> added = source.context().parallelize(scaled.rows(), 1);
    JavaRDD<SparseRow> all = source.rows().union(added).setName("sparqr [A; C]");
    SolveOptions o =
        options
            .with(options.analysis().withKnown(Optional.empty()))
            .with(options.factorization().withKeepQ(false))
            .with(options.solution().withCheck(false));
    var others = new Earlier(source.rows().getNumPartitions(), 0, 0, Ridge.NONE);
    FactorState state = Pipeline.factorize(RowSource.of(all), o, listener, others);
    boolean made = false;
    try {
      var found = new ConstrainedState(state, scaled, constraints);
      found.makeY();
      made = true;
      return found;
    } finally {
      if (!made) {
        state.close();
      }
    }
  }

  private void makeY() {
    int n = state.analysis().columns();
    List<SparseRow> rows = scaled.rows();
    for (int from = 0; from < rows.size(); from += BATCH) {
      int width = Math.min(BATCH, rows.size() - from);
      double[][] c = new double[width][n];
      for (int k = 0; k < width; k++) {
        SparseRow r = rows.get(from + k);
        for (int e = 0; e < r.indices().length; e++) {
          c[k][r.indices()[e]] = r.values()[e];
        }
      }
      double[] solved = state.forward(c);
      for (int k = 0; k < width; k++) {
        double[] column = new double[n];
        for (int p = 0; p < n; p++) {
          column[p] = solved[p * width + k];
        }
        if (y.add(column) == 0) {
          throw new IllegalArgumentException(
              "constraint %d depends on those before it in the columns that are not dead"
                  .formatted(from + k));
        }
      }
    }
  }

  /** The solution; computed once. */
  public LeastSquaresSolution solve() {
    if (solution == null) {
      solution = constrained(state.solve());
    }
    return solution;
  }

  private LeastSquaresSolution constrained(LeastSquaresSolution free) {
    int width = free.rhsCount();
    int p = constraints.size();
    double[][] x = new double[width][];
    double[][] u = new double[width][p];
    for (int k = 0; k < width; k++) {
      x[k] = free.x(k).clone();
    }
    for (int step = 0; step < 2; step++) {
      double[] c = new double[Math.multiplyExact(width, x[0].length)];
      for (int k = 0; k < width; k++) {
        double[] du = y.transposedSolve(missing(x[k], k));
        y.addTimes(du, c, k, width);
        for (int i = 0; i < p; i++) {
          u[k][i] += du[i];
        }
      }
      double[][] dx = state.back(c, width);
      for (int k = 0; k < width; k++) {
        for (int j = 0; j < dx[k].length; j++) {
          x[k][j] += dx[k][j];
        }
      }
    }
    double[] norm = new double[width];
    double[] tail = new double[width];
    multipliers = new double[width][];
    for (int k = 0; k < width; k++) {
      tail[k] = state.tail(k);
      for (double v : u[k]) {
        tail[k] = Math.hypot(tail[k], v);
      }
      norm[k] = state.withoutRidge(tail[k], x[k]);
      multipliers[k] = y.solve(u[k]);
      for (int i = 0; i < p; i++) {
        multipliers[k][i] *= -scaled.factor(i);
      }
    }
    // The rows that were factorized are A's and the constraints', which x satisfies.
    return state.corrected(
        x, state.residual(x, norm, tail), p + " linear equality constraint" + (p == 1 ? "" : "s"));
  }

  /** T (d - C x), the scaled violation of the constraints. */
  private double[] missing(double[] x, int k) {
    double[] e = new double[constraints.size()];
    for (int i = 0; i < e.length; i++) {
      SparseRow r = constraints.get(i);
      double sum = r.labels()[k];
      for (int t = 0; t < r.indices().length; t++) {
        sum = Math.fma(-r.values()[t], x[r.indices()[t]], sum);
      }
      e[i] = scaled.factor(i) * sum;
    }
    return e;
  }

  /** mu with A'(b - Ax) = C'mu. */
  public double[] multipliers(int k) {
    solve();
    return Objects.requireNonNull(multipliers)[k].clone();
  }

  /** sqrt of the diagonal of G - G C'(C G C')^-1 C G, G = (S'S)^-1. */
  public double[] unscaledErrors() {
    double[] error = state.unscaledErrors();
    int n = error.length;
    double[] less = new double[n];
    for (int from = 0; from < constraints.size(); from += BATCH) {
      int width = Math.min(BATCH, constraints.size() - from);
      double[] c = new double[Math.multiplyExact(n, width)];
      for (int k = 0; k < width; k++) {
        double[] q = y.column(from + k);
        for (int p = 0; p < n; p++) {
          c[p * width + k] = q[p];
        }
      }
      for (double[] z : state.back(c, width)) {
        for (int j = 0; j < n; j++) {
          less[j] += z[j] * z[j];
        }
      }
    }
    for (int j = 0; j < n; j++) {
      double g = error[j] * error[j];
      double variance = g - less[j];
      error[j] = variance <= ROUNDING * n * g ? 0 : Math.sqrt(variance);
      error[j] = Double.isNaN(g) ? Double.NaN : error[j];
    }
    return error;
  }

  /** Standard errors of x for right-hand side k. */
  public double[] standardErrors(int k) {
    double norm = solve().residualNorms()[k];
    long freedom = state.rows() - state.rank() + constraints.size();
    double sigma = freedom > 0 ? norm / Math.sqrt(freedom) : Double.NaN;
    return Arrays.stream(unscaledErrors()).map(e -> e * sigma).toArray();
  }

  @Override
  public void close() {
    state.close();
  }
}
