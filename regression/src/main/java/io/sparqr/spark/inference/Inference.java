/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of a weighted least-squares fit, from its R on the executors. Valid while the
 * factorization is open; not thread-safe.
 *
 * <p>The coefficients' classical covariance is sigma^2 (A'WA)^-1 over the independent columns, with
 * a ridge sigma^2 (A'WA + lambda I)^-1; sigma^2 = ||sqrt(W)(b - Ax)||^2 / (rows - rank). Contrasts
 * and new rows are {@link SparseRow}s with indices and values; the label of a contrast is the
 * hypothesized value, the weight of a new row that of the observation to predict. A batch of
 * vectors costs one or two triangular solves with R, of one Spark job per level each, and n values
 * per vector on the driver, at most 64 MB at a time. (A'A)^-1 is never formed.
 */
public final class Inference {

  private final QRFactorization factorization;
  private final @Nullable JavaRDD<SparseRow> rows;
  private final int label;
  private @Nullable LeastSquaresSolution solution;

  private Inference(QRFactorization factorization, @Nullable JavaRDD<SparseRow> rows, int label) {
    this.factorization = Objects.requireNonNull(factorization, "factorization");
    this.rows = rows;
    this.label = label;
  }

  /**
   * Statistics for the first right-hand side.
   *
   * @param rows the factorized rows; every pass over them checks that they are the same
   */
  public static Inference of(QRFactorization factorization, JavaRDD<SparseRow> rows) {
    return new Inference(factorization, Objects.requireNonNull(rows, "rows"), 0);
  }

  /**
   * Statistics for the first right-hand side where the rows are not at hand: the factorization was
   * loaded, or rows were appended to it. What needs a pass over the rows ({@link #influence()},
   * {@link #press()}, {@link #robust}, {@link #clustered}) throws {@link IllegalStateException}.
   */
  public static Inference of(QRFactorization factorization) {
    return new Inference(factorization, null, 0);
  }

  /**
   * As above, for another right-hand side.
   *
   * @throws IllegalArgumentException if there is no such right-hand side
   */
  public Inference ofRightHandSide(int k) {
    if (k < 0 || k >= solution().rhsCount()) {
      throw new IllegalArgumentException("right-hand side " + k);
    }
    return new Inference(factorization, rows, k);
  }

  private LeastSquaresSolution solution() {
    if (solution == null) {
      solution = factorization.solve();
    }
    return solution;
  }

  /** x, size n; 0 in dependent columns. */
  public double[] coefficients() {
    return solution().x(label).clone();
  }

  /** ||sqrt(W)(b - Ax)||. */
  public double residualNorm() {
    return solution().residualNorms()[label];
  }

  /** Number of rows of positive weight. */
  public long observations() {
    return factorization.summary().matrix().rows();
  }

  /** Numerical rank of A. */
  public int rank() {
    return factorization.rank();
  }

  /** Number of rows of positive weight minus the rank. */
  public long degreesOfFreedom() {
    return observations() - rank();
  }

  /**
   * ||sqrt(W)(b - Ax)|| / sqrt(degreesOfFreedom), the residual standard error; NaN if there are no
   * degrees of freedom.
   */
  public double sigma() {
    long freedom = degreesOfFreedom();
    return freedom > 0 ? residualNorm() / Math.sqrt(freedom) : Double.NaN;
  }

  /** Classical standard errors of all coefficients: {@link QRFactorization#standardErrors(int)}. */
  public double[] standardErrors() {
    return factorization.standardErrors(label);
  }

  /**
   * The classical covariance of some coefficients: k x k, symmetric, NaN for dependent columns.
   * Costs one triangular solve if the k columns fit in one batch, otherwise two per batch.
   *
   * @param columns original indices
   */
  public double[][] covariance(int... columns) {
    double[][] v = covariance(Batches.units(columns));
    int[] dead = factorization.deadColumns();
    for (int k = 0; k < columns.length; k++) {
      if (Arrays.binarySearch(dead, columns[k]) >= 0) {
        Arrays.fill(v[k], Double.NaN);
        for (double[] row : v) {
          row[k] = Double.NaN;
        }
      }
    }
    return v;
  }

  /** The classical covariance of linear combinations: L (A'A)^-1 L' sigma^2, q x q. */
  public double[][] covariance(List<SparseRow> contrasts) {
    double[][] g = unscaled(contrasts);
    double sigma = sigma();
    for (double[] row : g) {
      for (int k = 0; k < row.length; k++) {
        row[k] *= sigma * sigma;
      }
    }
    return g;
  }

  /** L (A'A)^-1 L' over the independent columns. */
  private double[][] unscaled(List<SparseRow> l) {
    int q = l.size();
    int batch = Batches.width(columns());
    double[][] g = new double[q][q];
    if (q <= batch) {
      HalfSolve w = factorization.halfSolve(l);
      for (int i = 0; i < q; i++) {
        for (int j = 0; j <= i; j++) {
          g[i][j] = w.product(i, j);
          g[j][i] = g[i][j];
        }
      }
      return g;
    }
    int[] columns =
        l.stream().flatMapToInt(u -> Arrays.stream(u.indices())).sorted().distinct().toArray();
    int many = Batches.block(columns.length);
    for (int from = 0; from < q; from += many) {
      int to = Math.min(q, from + many);
      double[][] z = factorization.inverseTimes(l.subList(from, to), columns);
      for (int j = from; j < to; j++) {
        for (int i = 0; i <= j; i++) {
          g[i][j] = dot(l.get(i), columns, z[j - from]);
          g[j][i] = g[i][j];
        }
      }
    }
    return g;
  }

  /** The number of columns, n. */
  public int columns() {
    return factorization.summary().matrix().columns();
  }

  /**
   * Whether linear combinations l'b are the same for all least-squares solutions, which holds if l
   * is orthogonal to the null space of A, up to the tolerance of the rank test. Costs a triangular
   * solve.
   */
  public boolean[] estimable(List<SparseRow> contrasts) {
    boolean[] all = new boolean[contrasts.size()];
    int batch = Batches.width(columns());
    for (int from = 0; from < all.length; from += batch) {
      int to = Math.min(all.length, from + batch);
      boolean[] some = factorization.halfSolve(contrasts.subList(from, to)).estimable();
      System.arraycopy(some, 0, all, from, some.length);
    }
    return all;
  }

  /** A separate test of each l'b = c, with c the contrast's label and the classical covariance. */
  public List<ContrastTest> contrasts(List<SparseRow> contrasts) {
    var tests = new ArrayList<ContrastTest>();
    double[] x = solution().x(label);
    double sigma = sigma();
    int batch = Batches.width(columns());
    for (int from = 0; from < contrasts.size(); from += batch) {
      var some = contrasts.subList(from, Math.min(contrasts.size(), from + batch));
      HalfSolve w = factorization.halfSolve(some);
      for (int k = 0; k < some.size(); k++) {
        boolean estimable = w.estimable()[k];
        double open = estimable || isLive(some.get(k)) ? 1 : Double.NaN;
        double estimate = (dot(some.get(k), x) - hypothesis(some.get(k))) * open;
        tests.add(
            ContrastTest.of(estimate, sigma * w.norm(k) * open, degreesOfFreedom(), estimable));
      }
    }
    return tests;
  }

  /**
   * A joint test of all l'b = c, with the classical covariance.
   *
   * @throws IllegalArgumentException if a contrast has dependent columns and is not estimable, or
   *     depends on earlier ones
   */
  public WaldTest waldTest(List<SparseRow> contrasts) {
    int q = contrasts.size();
    if (q == 0) {
      throw new IllegalArgumentException("a joint test of no contrasts");
    }
    double[] x = solution().x(label);
    double[] c = new double[q];
    for (int k = 0; k < q; k++) {
      c[k] = dot(contrasts.get(k), x) - hypothesis(contrasts.get(k));
    }
    double wald;
    if (q <= Batches.width(columns())) {
      HalfSolve w = factorization.halfSolve(contrasts);
      requireDefined(contrasts, w.estimable());
      double[][] root = new double[q][];
      Arrays.setAll(root, w::column);
      wald = Gram.ofRoot(root, c);
    } else {
      requireDefined(contrasts, estimable(contrasts));
      wald = Gram.of(unscaled(contrasts), c);
    }
    double sigma = sigma();
    return WaldTest.of(wald / sigma / sigma, q, degreesOfFreedom());
  }

  private void requireDefined(List<SparseRow> contrasts, boolean[] estimable) {
    for (int k = 0; k < estimable.length; k++) {
      if (!estimable[k] && !isLive(contrasts.get(k))) {
        throw new IllegalArgumentException(
            "contrast " + k + " has a dependent column and is not estimable");
      }
    }
  }

  /** Whether a vector is zero in all dependent columns. */
  private boolean isLive(SparseRow l) {
    int[] dead = factorization.deadColumns();
    for (int e = 0; e < l.indices().length; e++) {
      if (l.values()[e] != 0 && Arrays.binarySearch(dead, l.indices()[e]) >= 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Predictions for a few new rows: one triangular solve for each, in batches.
   *
   * @param rows with the same number of columns; their weights are those of the observations to
   *     predict
   */
  public List<Prediction> predict(List<SparseRow> rows) {
    var all = new ArrayList<Prediction>();
    double[] x = solution().x(label);
    double sigma = sigma();
    int batch = Batches.width(columns());
    for (int from = 0; from < rows.size(); from += batch) {
      var some = rows.subList(from, Math.min(rows.size(), from + batch));
      HalfSolve w = factorization.halfSolve(some);
      for (int k = 0; k < some.size(); k++) {
        SparseRow a = some.get(k);
        double open = w.estimable()[k] ? 1 : Double.NaN;
        all.add(
            new Prediction(
                dot(a, x) * open, sigma * w.norm(k) * open, sigma, a.weight(), degreesOfFreedom()));
      }
    }
    return all;
  }

  /** Lower and upper ends of confidence intervals for the coefficients: k x 2. */
  public double[][] confidenceIntervals(double level, int... columns) {
    List<ContrastTest> tests = contrasts(Batches.units(columns));
    double[][] ends = new double[columns.length][];
    Arrays.setAll(ends, k -> tests.get(k).confidenceInterval(level));
    return ends;
  }

  /**
   * Leverage, residuals and Cook's distance of every row, exactly: one element per row, in the
   * partitions and order of the rows. Computed on reading, except for the leverages, which are
   * computed by this call; see {@link QRFactorization#leverages()}.
   *
   * @throws io.sparqr.error.InputChangedException on reading, if the rows are not those of the fit
   */
  public JavaRDD<Influence> influence() {
    var fit = new Influence.Fit(residualNorm(), degreesOfFreedom(), rank());
    Observations.Fit at = fit();
    return rows()
        .zipPartitions(
            leverages(), (r, h) -> new Observations(at, Observations.only(h), r).influence(fit));
  }

  /**
   * PRESS, the sum of the weighted squares of {@link Influence#deletedResidual()}; NaN if some
   * leverage is 1. Summed in the order of the rows, with the same bits on every run.
   */
  public double press() {
    Observations.Fit at = fit();
    JavaRDD<double[]> parts =
        rows()
            .zipPartitions(
                leverages(),
                (r, h) ->
                    List.of(new double[] {new Observations(at, Observations.only(h), r).press()})
                        .iterator());
    double sum = 0;
    for (double[] part : scoped("PRESS", () -> SparkErrors.unwrap(parts::collect))) {
      sum += part[0];
    }
    return sum;
  }

  /** Runs an action in its own job group, or in the caller's. */
  <T> T scoped(String what, Supplier<T> action) {
    try (var scope = new JobScope(JavaSparkContext.fromSparkContext(rows().context()))) {
      scope.describe(what);
      return action.get();
    }
  }

  /**
   * The heteroscedasticity-consistent covariance of some coefficients, as by {@code
   * sandwich::vcovHC}. Costs two triangular solves and a pass over the rows for each batch of
   * columns (64, or fewer beyond n = 131,072), and n values per column on the driver and in a
   * broadcast; HC2 and HC3 also need the leverages.
   *
   * @param columns original indices, at most 10,000; covariances are available for one batch,
   *     variances for any number
   * @throws IllegalArgumentException if there are too many columns, with the cost in the message
   */
  public RobustCovariance robust(HcType type, int... columns) {
    return new Sandwich(this, columns, type).ofRows();
  }

  /**
   * The cluster-robust covariance of some coefficients: scores are summed within clusters (Liang
   * and Zeger 1986). Costs as much as {@link #robust} and a shuffle of k values per cluster and
   * partition.
   *
   * @param keys one per row, aligned with the rows: texts, numbers, or lists of these
   * @throws IllegalArgumentException if there are too many columns
   * @throws io.sparqr.error.DimensionMismatchException if keys and rows are not aligned
   */
  public RobustCovariance clustered(ClusterCorrection correction, JavaRDD<?> keys, int... columns) {
    JavaRDD<String[]> texts = keys.map(k -> new String[] {ClusterKeys.text(k)});
    return new Sandwich(this, columns, HcType.HC0).ofClusters(correction, texts, 1);
  }

  /**
   * As above, with two ways of clustering: the sum for the first plus that for the second, minus
   * that for their intersections (Cameron, Gelbach, Miller 2011, J. Bus. Econ. Stat. 29). Variances
   * may be negative; their errors are then NaN, unless they are {@link RobustCovariance#repaired}.
   */
  public RobustCovariance clustered(
      ClusterCorrection correction, JavaRDD<?> first, JavaRDD<?> second, int... columns) {
    JavaRDD<String[]> texts =
        first
            .map(ClusterKeys::text)
            .zip(second.map(ClusterKeys::text))
            .map(p -> new String[] {p._1(), p._2(), p._1().length() + ":" + p._1() + p._2()});
    return new Sandwich(this, columns, HcType.HC0).ofClusters(correction, texts, 3);
  }

  /**
   * The leverages of each partition with its number, which tasks of a caller's RDD may not know.
   */
  JavaRDD<Observations.Leverages> leverages() {
    return factorization
        .leverages()
        .mapPartitionsWithIndex(
            (p, h) -> List.of(new Observations.Leverages(p, Observations.only(h))).iterator(),
            true);
  }

  /**
   * The rows of the fit.
   *
   * @throws IllegalStateException if they are not at hand
   */
  JavaRDD<SparseRow> rows() {
    if (rows == null) {
      throw new IllegalStateException(
          "this takes the rows of the fit, and they were not given: Inference.of(factorization, rows)");
    }
    return rows;
  }

  /** The factorization behind the statistics. */
  QRFactorization factorization() {
    return factorization;
  }

  Observations.Fit fit() {
    return new Observations.Fit(solution().x(label), label, factorization.readings());
  }

  /**
   * Log-likelihood of normal errors at the fit, as by R's {@code logLik}: -n/2 (log(2 pi RSS / n) +
   * 1) for weights 1.
   *
   * @param logWeights sum of the logarithms of the positive weights, 0 for weights 1
   */
  public double logLikelihood(double logWeights) {
    double n = observations();
    double variance = 2 * (Math.log(residualNorm()) - Math.log(n) / 2);
    return 0.5 * (logWeights - n * (Math.log(2 * Math.PI) + variance + 1));
  }

  /** 2 (rank + 1) - 2 logLikelihood, as by R's {@code AIC}. */
  public double aic(double logWeights) {
    return 2.0 * (rank() + 1) - 2 * logLikelihood(logWeights);
  }

  /** log(observations) (rank + 1) - 2 logLikelihood, as by R's {@code BIC}. */
  public double bic(double logWeights) {
    return Math.log(observations()) * (rank() + 1) - 2 * logLikelihood(logWeights);
  }

  /**
   * Rejects fits of other observations.
   *
   * @throws IllegalArgumentException if partitions, rows, weights or labels differ
   */
  void requireSameObservations(Inference other) {
    Readings mine = factorization.readings();
    Readings its = other.factorization.readings();
    boolean same = label == other.label && mine.partitions() == its.partitions();
    for (int p = 0; same && p < mine.partitions(); p++) {
      Fingerprint a = mine.of(p);
      Fingerprint b = its.of(p);
      same = a.rows() == b.rows() && a.weights() == b.weights() && a.labels() == b.labels();
    }
    if (!same) {
      throw new IllegalArgumentException(
          "the fits are not of the same observations: other rows, weights or labels, another"
              + " order, or other partitions");
    }
  }

  private static double hypothesis(SparseRow l) {
    return l.labels().length == 0 ? 0 : l.labels()[0];
  }

  private static double dot(SparseRow l, double[] x) {
    double sum = 0;
    for (int e = 0; e < l.indices().length; e++) {
      sum += l.values()[e] * x[l.indices()[e]];
    }
    return sum;
  }

  /** As above, with the values of x at some columns only, ascending. */
  private static double dot(SparseRow l, int[] columns, double[] x) {
    double sum = 0;
    for (int e = 0; e < l.indices().length; e++) {
      sum += l.values()[e] * x[Arrays.binarySearch(columns, l.indices()[e])];
    }
    return sum;
  }
}
