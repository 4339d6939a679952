/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.design.LeftOut;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.wire.ObjectCodec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.jspecify.annotations.Nullable;

/**
 * One fit: the design [X 1] with ridge rows below X, factorized once.
 *
 * @param estimate the coefficients
 * @param errors standard errors, if requested
 * @param norm root of the sum of w (y - yhat)^2: the tail of Q'b minus the contribution of the
 *     ridge rows
 * @param moments of the training data, if needed so far
 * @param sample the rows of the fit
 * @param report of the solver, with warnings about numerical limits of the statistics
 */
record DesignFit(
    Estimate estimate,
    @Nullable CoefficientErrors errors,
    double norm,
    @Nullable Moments moments,
    Sample sample,
    SolveReport report) {

  /**
   * The coefficients, and which of them are defined.
   *
   * @param x coefficients, then the intercept if there is one
   * @param intercept c
   * @param rank numerical rank of the design, ridge rows included
   * @param dead original indices of the columns whose coefficients are not defined; the intercept's
   *     index is the number of features
   * @param dependencies each dependent column as a combination of others, if computed
   */
  record Estimate(
      double[] x, double intercept, int rank, int[] dead, List<Dependency> dependencies) {}

  /**
   * The rows of a fit.
   *
   * @param instances rows with a positive weight
   * @param rows fingerprint of the rows of [X 1], in any order
   * @param leftOut the rows of the data that are not among them
   */
  record Sample(long instances, Fingerprint rows, LeftOut leftOut) {}

  /** Ridge rows per task. */
  private static final int RIDGE_ROWS_A_TASK = 1 << 16;

  /**
   * A norm below this fraction of the minuend is not obtained by subtraction; 1e-2 leaves 12
   * digits.
   */
  private static final double CANCELLED = 1e-2;

  /** Residuals below this times sqrt(instances) times the fitted values are rounding errors. */
  private static final double PERFECT = 4 * Math.ulp(1.0);

  /**
   * Fits.
   *
   * @param kept receives the data on the cluster, which otherwise are released
   */
  static DesignFit of(Training source, @Nullable Consumer<KeptFit> kept) {
    var context = JavaSparkContext.fromSparkContext(source.data().sparkSession().sparkContext());
    try (var scope = new JobScope(context)) {
      scope.describe("rows of the Dataset");
      return scoped(source, kept);
    }
  }

  private static DesignFit scoped(Training source, @Nullable Consumer<KeptFit> kept) {
    SparseQRSolver solver = source.solver();
    CoefficientErrors.check(source.params());
    var held = new KeptFit(source.rows(true));
    boolean handedOver = false;
    try {
      DesignFit fit = of(held, solver, source);
      if (kept != null) {
        kept.accept(held);
        handedOver = true;
      }
      return fit;
    } catch (MatrixFormatException e) {
      LeftOut leftOut = held.rows().leftOut();
      // No row, no number of a row or a line.
      throw leftOut.rows() > 0 && e.position().isEmpty() && e.source().equals("input")
          ? new MatrixFormatException(
              "no row has a value in all columns that are used: " + leftOut, "input", -1)
          : source.refused(e);
    } catch (SparseQrException e) {
      throw source.refused(e);
    } finally {
      if (!handedOver) {
        held.close();
      }
    }
  }

  private static DesignFit of(KeptFit held, SparseQRSolver solver, Training source) {
    JavaRDD<SparseRow> rows = held.rows().rdd();
    SparseQRRegressionParams params = source.params();
    boolean ones = source.ones();
    Ridge ridge = Ridge.of(rows, params.getRegParam(), source);
    QRFactorization f = held.made(solver.factorize(ridge.under(rows)));
    ridge.requireSame(f.readings());
    LeastSquaresSolution s = f.solve();
    double[] x = s.x();
    double all = s.residualNorm();
    double penalty = ridge.norm(x);
    // (a - p)(a + p): a^2 - p^2 without overflow and with less cancellation.
    double norm = Math.sqrt(Math.max(0, all - penalty)) * Math.sqrt(all + penalty);
    boolean cancelled = penalty > 0 && norm < CANCELLED * all;
    boolean statistics = params.getComputeStandardErrors();
    Fingerprint fitted = f.readings().total(rows.getNumPartitions());
    Moments moments = statistics || cancelled ? Moments.of(rows, x, fitted) : null;
    if (cancelled && moments != null) {
      norm = moments.errors();
    }
    long instances = f.summary().matrix().rows() - ridge.rows();
    var spanned = Spanned.of(f, held.rows(), source, ridge.rows() > 0);
    // A ridge has made independent what the effects span; without one an effect was dropped
    // instead.
    int rank = s.rank() - (ridge.rows() > 0 ? spanned.columns().length : 0);
    long freedom = instances - rank;
    CoefficientErrors errors =
        statistics ? CoefficientErrors.of(f, source, held.rows(), norm, freedom) : null;
    spanned.clear(x, errors, ridge.rows() > 0);
    var warnings = new ArrayList<>(source.warnings());
    warnings.addAll(spanned.warnings());
    if (moments != null && errors != null) {
      warnings.addAll(warnings(moments, norm, instances, freedom, source.constant()));
      warnings.addAll(errors.warnings());
    }
    SolveReport report = source.named(f.summary().withWarnings(warnings));
    return new DesignFit(
        new Estimate(
            x,
            ones ? x[x.length - 1] : 0,
            rank,
            spanned.with(s.deadColumns()),
            f.knownDependencies()),
        errors,
        norm,
        moments,
        new Sample(instances, fitted, held.rows().leftOut()),
        report);
  }

  double[] x() {
    return estimate.x;
  }

  double intercept() {
    return estimate.intercept;
  }

  int rank() {
    return estimate.rank;
  }

  int[] dead() {
    return estimate.dead;
  }

  List<Dependency> dependencies() {
    return estimate.dependencies;
  }

  long instances() {
    return sample.instances;
  }

  Fingerprint rows() {
    return sample.rows;
  }

  LeftOut leftOut() {
    return sample.leftOut;
  }

  /** The warnings of R's summary of a linear model. */
  private static List<String> warnings(
      Moments moments, double norm, long instances, long freedom, boolean ones) {
    var warnings = new ArrayList<String>();
    if (freedom <= 0) {
      warnings.add("no residual degrees of freedom: standard errors are NaN");
    } else if (norm <= PERFECT * Math.sqrt(instances) * moments.predictions()) {
      warnings.add(
          "essentially perfect fit: the residuals are rounding errors, standard errors, t and p"
              + " values may be unreliable");
    }
    if (ones && moments.labelsCentred() == 0) {
      warnings.add("the label is constant: r2 is NaN");
    }
    return warnings;
  }

  /** Standard errors in the order of x, NaN for dependent columns, if requested. */
  double @Nullable [] standardErrors() {
    return errors == null ? null : errors.values();
  }

  /** The part of x for the features. */
  Vector coefficients(boolean ones) {
    double[] x = estimate.x;
    return Vectors.dense(ones ? Arrays.copyOf(x, x.length - 1) : x);
  }

  /**
   * The penalty lambda ||b||^2 as rows sqrt(lambda) e_j, j a regressor: absorbed effects, like the
   * intercept, have none.
   *
   * @param root sqrt(lambda)
   * @param features number of penalized columns, which come first
   * @param columns number of columns of the design
   * @param sums the sums of weights from which lambda was computed
   */
  private record Ridge(double root, int features, int columns, List<Sum> sums)
      implements java.io.Serializable {

    static Ridge of(JavaRDD<SparseRow> rows, double regParam, Training source) {
      if (regParam == 0) {
        return new Ridge(0, 0, 0, List.of());
      }
      double weights = 0;
      int columns = 0;
      var sums = new ArrayList<Sum>();
      for (byte[] frame :
          JobScope.run(
              JavaSparkContext.fromSparkContext(rows.context()),
              "sums of the weights, for the ridge",
              rows.mapPartitions(DesignFit::sum)::collect)) {
        Sum part = ObjectCodec.decode(frame, Sum.class);
        sums.add(part);
        weights += part.weights;
        columns = Math.max(columns, part.columns);
      }
      double root = Math.sqrt(weights * regParam);
      // The solver rejects a bad weight, because it can name the row.
      return root > 0 && Double.isFinite(root)
          ? new Ridge(root, source.regressors(columns), columns, sums)
          : new Ridge(0, 0, 0, List.of());
    }

    /** Checks that the weights are still those from which lambda was computed. */
    void requireSame(Readings readings) {
      for (int p = 0; p < sums.size(); p++) {
        readings.requireWeights(p, sums.get(p).rows, sums.get(p).hash);
      }
    }

    /** Number of ridge rows. */
    int rows() {
      return features;
    }

    /** sqrt(lambda) ||b||. */
    double norm(double[] x) {
      double norm = 0;
      for (int j = 0; j < features; j++) {
        norm = Math.hypot(norm, x[j]);
      }
      return root * norm;
    }

    JavaRDD<SparseRow> under(JavaRDD<SparseRow> rows) {
      if (features == 0) {
        return rows;
      }
      int tasks = (features - 1) / RIDGE_ROWS_A_TASK + 1;
      List<Integer> firsts = new ArrayList<>();
      for (int t = 0; t < tasks; t++) {
        firsts.add(t * RIDGE_ROWS_A_TASK);
      }
      Ridge self = this;
      return rows.union(
          JavaSparkContext.fromSparkContext(rows.context())
              .parallelize(firsts, tasks)
              .flatMap(self::rowsFrom));
    }

    private Iterator<SparseRow> rowsFrom(int first) {
      return IntStream.range(first, (int) Math.min(features, (long) first + RIDGE_ROWS_A_TASK))
          .mapToObj(
              j -> new SparseRow(new int[] {j}, new double[] {root}, new double[] {0}, 1, columns))
          .iterator();
    }
  }

  /**
   * The figures of one partition: number of rows, sum and hash of the weights, number of columns.
   */
  private record Sum(double weights, long rows, long hash, int columns)
      implements java.io.Serializable {}

  private static Iterator<byte[]> sum(Iterator<SparseRow> rows) {
    double weights = 0;
    long count = 0;
    long hash = 0;
    int columns = 0;
    while (rows.hasNext()) {
      SparseRow r = rows.next();
      weights += r.weight();
      if (r.weight() > 0) {
        count++;
        hash = Fingerprint.withWeight(hash, count, r.weight());
      }
      columns = r.columns();
    }
    // Kryo cannot read records.
    return List.of(ObjectCodec.encode(new Sum(weights, count, hash, columns))).iterator();
  }
}
