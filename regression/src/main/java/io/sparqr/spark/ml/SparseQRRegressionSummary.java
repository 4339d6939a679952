/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.design.LeftOut;
import io.sparqr.spark.design.level.AbsorbedFactor;
import io.sparqr.spark.inference.ContrastTest;
import io.sparqr.spark.inference.WaldTest;
import io.sparqr.spark.report.SolveReport;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.special.Beta;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.jspecify.annotations.Nullable;

/**
 * The results of a fit on its training data, in the terms of MLlib's linear regression summary. All
 * sums are weighted. The intercept comes last in {@link #coefficientStandardErrors()}, {@link
 * #tValues()} and {@link #pValues()}. Without an intercept, r2 is that of a regression through the
 * origin. Rows of weight 0 are not instances. Degrees of freedom use the numerical rank, which
 * equals MLlib's number of coefficients if the design has full rank.
 *
 * <p>Sums of squared errors come from the factorization (the tail of Q'b), which is more accurate
 * than subtracting predictions if the design is ill-conditioned. Values that need the labels (r2,
 * mean errors) take one pass over the training data: during {@code fit} if it computes standard
 * errors, otherwise at the first call, which fails if the data have changed since the fit.
 *
 * <p>Standard errors are sigma sqrt(diag((A'A + lambda D)^-1)), D = I except 0 for the intercept,
 * as in MLlib. With a ridge they have a Bayesian interpretation, and do not describe the sampling
 * distribution of the biased estimator.
 */
public final class SparseQRRegressionSummary {

  private final String featuresCol;
  private final UnaryOperator<Dataset<Row>> predicting;
  private final Training source;
  private final DesignFit fit;
  private final String predictionCol;
  private @Nullable Dataset<Row> predictions;
  private @Nullable Moments moments;
  private double @Nullable [] quartiles;

  /**
   * The summary of a fit.
   *
   * @param predictionCol name of the column that {@code predicting} adds
   * @param predicting adds the predictions to a Dataset
   */
  SparseQRRegressionSummary(
      Training source,
      DesignFit fit,
      String featuresCol,
      String predictionCol,
      UnaryOperator<Dataset<Row>> predicting) {
    this.source = source;
    this.fit = fit;
    this.moments = fit.moments();
    this.featuresCol = featuresCol;
    this.predictionCol = predictionCol;
    this.predicting = predicting;
  }

  /** The training data with the prediction column. */
  public synchronized Dataset<Row> predictions() {
    if (predictions == null) {
      predictions = predicting.apply(source.data());
    }
    return predictions;
  }

  /** A column "residuals", label - prediction, in the order of the training data. */
  public Dataset<Row> residuals() {
    return source.residuals(predictions(), predictionCol);
  }

  /** Name of the features column. */
  public String featuresCol() {
    return featuresCol;
  }

  /** Name of the label column. */
  public String labelCol() {
    return source.response();
  }

  /** Name of the prediction column in {@link #predictions()}. */
  public String predictionCol() {
    return predictionCol;
  }

  private synchronized Moments moments() {
    if (moments == null) {
      try (TrainingRows rows = source.rows(false)) {
        moments = Moments.of(rows.rdd(), fit.x(), fit.rows());
      }
    }
    return moments;
  }

  /**
   * Standard errors of the coefficients, then of the intercept, from the same factorization as the
   * coefficients; NaN for dependent columns, and for all columns if there are no degrees of
   * freedom.
   *
   * @throws UnsupportedOperationException if the estimator was told not to compute them
   */
  public double[] coefficientStandardErrors() {
    return errors().values().clone();
  }

  private CoefficientErrors errors() {
    CoefficientErrors errors = fit.errors();
    if (errors == null) {
      throw new UnsupportedOperationException(
          "no standard errors: computeStandardErrors was false");
    }
    return errors;
  }

  /**
   * The assumption behind the standard errors and their small-sample correction, such as "HC1", or
   * "clustered by firm (120), ..."; empty for equal variances.
   */
  public String standardErrorsAssume() {
    return errors().assumed();
  }

  /**
   * Whether {@link #coefficientCovariance()} is available: for up to 64 coefficients (not counting
   * absorbed effects) of a formula or factors, or with robust or clustered errors.
   */
  public boolean hasCoefficientCovariance() {
    return fit.errors() != null && fit.errors().covariance() != null;
  }

  /**
   * The covariance matrix whose diagonal is the squared standard errors: k x k, for the
   * coefficients that are not absorbed, the intercept last; NaN for dependent columns.
   *
   * @throws UnsupportedOperationException if it is not available: {@link
   *     #hasCoefficientCovariance()}
   */
  public double[][] coefficientCovariance() {
    double[][] covariance = fit.errors() == null ? null : fit.errors().covariance();
    if (covariance == null) {
      throw new UnsupportedOperationException(
          "no covariances: there are none without standard errors, and of more than 64 coefficients"
              + " (fitKept and Inference.covariance have those that you ask for)");
    }
    double[][] copy = covariance.clone();
    Arrays.setAll(copy, k -> copy[k].clone());
    return copy;
  }

  /**
   * V for errors of predictions: as above, with zeros for dependent columns, whose coefficients are
   * 0 in predictions, too.
   *
   * @throws IllegalStateException if there is none
   */
  double[][] predictionCovariance() {
    if (!absorbedFactors().isEmpty()) {
      throw new IllegalStateException(
          "errors of predictions are not there with absorbed effects, whose covariances are not"
              + " computed: write them as factors");
    }
    if (!hasCoefficientCovariance()) {
      throw new IllegalStateException(
          "errors of predictions take the covariances of all coefficients, which come with standard"
              + " errors and 64 coefficients at most");
    }
    double[][] covariance = coefficientCovariance();
    for (double[] row : covariance) {
      for (int k = 0; k < row.length; k++) {
        row[k] = Double.isNaN(row[k]) ? 0 : row[k];
      }
    }
    return covariance;
  }

  /**
   * Degrees of freedom of {@link #pValues()}: {@link #degreesOfFreedom()}, or those set by the
   * correction of clustered errors.
   */
  public double testDegreesOfFreedom() {
    return errors().freedom();
  }

  /**
   * The factor from a standard error to half a confidence interval: t with P(|T| <= t) = level.
   *
   * @throws IllegalArgumentException if level is not within (0, 1)
   */
  public double criticalValue(double level) {
    return ContrastTest.criticalValue(level, testDegreesOfFreedom());
  }

  /** Estimates divided by standard errors, intercept last. */
  public double[] tValues() {
    double[] t = coefficientStandardErrors();
    for (int j = 0; j < t.length; j++) {
      t[j] = fit.x()[j] / t[j];
    }
    return t;
  }

  /**
   * Two-sided p-values of Student's t, intercept last; NaN where the t value is NaN. The degrees of
   * freedom are {@link #degreesOfFreedom()}, or those set by the correction of clustered errors.
   */
  public double[] pValues() {
    double[] p = tValues();
    if (degreesOfFreedom() <= 0) {
      java.util.Arrays.fill(p, Double.NaN);
      return p;
    }
    // Without a random generator, because nothing is sampled.
    var student = new TDistribution(null, errors().freedom());
    for (int j = 0; j < p.length; j++) {
      p[j] = Double.isNaN(p[j]) ? p[j] : 2 * student.cumulativeProbability(-Math.abs(p[j]));
    }
    return p;
  }

  /**
   * The rows of the training data that the fit leaves out, with {@code handleInvalid} "skip", and
   * for want of what.
   */
  public LeftOut leftOut() {
    return fit.leftOut();
  }

  /** Instances of positive weight. */
  public long numInstances() {
    return fit.instances();
  }

  /** {@link #numInstances()} - {@link #rank()}. */
  public long degreesOfFreedom() {
    return fit.instances() - fit.rank();
  }

  /** Numerical rank of the design, intercept included. */
  public int rank() {
    return fit.rank();
  }

  /**
   * Features that depend on others, ascending; the intercept has the number of features as its
   * index. Among dependent columns the later ones are dropped, as in R's lm, and the intercept
   * last; see the report's warnings for the exception.
   */
  public int[] deadColumns() {
    return fit.dead().clone();
  }

  /** Names of the coefficients in order, the intercept last. */
  public List<String> coefficientNames() {
    return source.names(fit.x().length);
  }

  /** Names of {@link #deadColumns()}. */
  public List<String> deadNames() {
    List<String> names = coefficientNames();
    return Arrays.stream(fit.dead()).mapToObj(names::get).toList();
  }

  /**
   * The dependent columns as combinations of others, as R's {@code alias}: columns term,
   * depends_on, coefficient, with one row per column in the combination; term is the sum of
   * coefficient times depends_on. Empty if the fill-reducing order decided which columns are
   * dropped (the report then warns).
   */
  public Dataset<Row> dependencies() {
    return new CoefficientTable(this, source, fit).dependencies();
  }

  /**
   * The solver's report; its rows and nonzeros count the ridge rows. If standard errors were
   * computed, it also warns of an essentially perfect fit, a constant label, or no degrees of
   * freedom.
   */
  public SolveReport report() {
    return fit.report();
  }

  /** Sum of w (y - yhat)^2 divided by W. */
  public double meanSquaredError() {
    double root = rootMeanSquaredError();
    return root * root;
  }

  /** Root of {@link #meanSquaredError()}. */
  public double rootMeanSquaredError() {
    return fit.norm() / Math.sqrt(moments().weight());
  }

  /** Sum of w |y - yhat| divided by W. */
  public double meanAbsoluteError() {
    return moments().absoluteErrors() / moments().weight();
  }

  /** Sum of w (yhat - mean of y)^2 divided by W. */
  public double explainedVariance() {
    double root = moments().explained() / Math.sqrt(moments().weight());
    return root * root;
  }

  /**
   * 1 - sum of w (y - yhat)^2 / sum of w (y - mean)^2, with sum of w y^2 as denominator without
   * intercept: as in R, and in Spark for weights 1. (With other weights and an intercept, Spark's
   * denominator is W - 1 times the unbiased weighted variance, which differs from that sum.) NaN if
   * the denominator is 0: for a constant label or, without intercept, a label of zeros.
   */
  public double r2() {
    Moments m = moments();
    double total = source.constant() ? m.labelsCentred() : m.labels();
    double share = fit.norm() / total;
    return total == 0 ? Double.NaN : 1 - share * share;
  }

  /** r2 adjusted for degrees of freedom; NaN if there are none. */
  public double r2adj() {
    int ones = source.constant() ? 1 : 0;
    double ratio = (double) (numInstances() - ones) / degreesOfFreedom();
    return degreesOfFreedom() <= 0 ? Double.NaN : 1 - (1 - r2()) * ratio;
  }

  /**
   * The within R2 of fixest, 1 - rss / rss(effects): the share of the squared errors, as left by
   * the absorbed effects alone, that the other columns explain. NaN without absorbed effects,
   * standard errors or other columns, and if there are more than 64 of those. Computed from R,
   * without another fit.
   */
  public double r2Within() {
    if (absorbedFactors().isEmpty() || fit.errors() == null) {
      return Double.NaN;
    }
    double ratio = fit.errors().within() / fit.norm() / fit.norm();
    return Double.isInfinite(ratio) ? 1 : ratio / (1 + ratio);
  }

  /** Whether any weight differs from 1. */
  boolean weighted() {
    return moments().weighted();
  }

  /** Residual standard error: sqrt of the sum of w (y - yhat)^2 / degrees of freedom. */
  public double sigma() {
    return degreesOfFreedom() > 0 ? fit.norm() / Math.sqrt(degreesOfFreedom()) : Double.NaN;
  }

  /**
   * Number of fitted parameters but the mean: rank, less 1 if the mean is fitted. With errors of
   * equal variances it is the numerator degrees of freedom of F.
   */
  public long modelDegreesOfFreedom() {
    return fit.rank() - (source.constant() ? 1 : 0);
  }

  /** Whether F is Wald's of robust or clustered errors, rather than of sums of squares. */
  public boolean isWald() {
    return fit.errors() != null && !fit.errors().assumed().isEmpty();
  }

  /** Numerator degrees of freedom of {@link #fStatistic()}. */
  public long fModelDegreesOfFreedom() {
    if (!isWald()) {
      return modelDegreesOfFreedom();
    }
    int first = source.ones() ? fit.x().length - 1 : fit.x().length;
    int end = Math.min(first, source.regressors(fit.x().length));
    return end - Arrays.stream(fit.dead()).filter(j -> j < end).count();
  }

  /** Denominator degrees of freedom of {@link #fStatistic()}. */
  public double fResidualDegreesOfFreedom() {
    return isWald() ? errors().freedom() : degreesOfFreedom();
  }

  /**
   * F for the hypothesis that all coefficients except the intercept are 0. With errors of equal
   * variances that of R's {@code summary.lm}, in which absorbed effects are coefficients; with
   * robust or clustered errors Wald's by these errors, of the coefficients in the table. NaN
   * without degrees of freedom, for a constant label, if only the intercept was fitted, and where
   * the covariance is singular. With a ridge it does not have this meaning.
   */
  public double fStatistic() {
    if (modelDegreesOfFreedom() <= 0 || degreesOfFreedom() <= 0) {
      return Double.NaN;
    }
    Moments m = moments();
    double total = source.constant() ? m.labelsCentred() : m.labels();
    if (total == 0) {
      return Double.NaN;
    }
    if (isWald()) {
      WaldTest wald = errors().wald();
      return wald == null ? Double.NaN : wald.f();
    }
    double ratio = total / fit.norm();
    // By norms: (total^2 - rss) / rss.
    double share = (ratio - 1) * (ratio + 1);
    return share * degreesOfFreedom() / modelDegreesOfFreedom();
  }

  /** Probability of an F at least as large under that hypothesis. */
  public double fPValue() {
    double f = fStatistic();
    if (isWald()) {
      WaldTest wald = errors().wald();
      return Double.isNaN(f) || wald == null ? Double.NaN : wald.pValue();
    }
    double df = degreesOfFreedom();
    double model = modelDegreesOfFreedom();
    return Double.isNaN(f)
        ? f
        : Beta.regularizedBeta(df / (df + model * Math.max(0, f)), df / 2, model / 2);
  }

  /**
   * Log-likelihood of normal errors with variance sigma^2 / w at its maximum over coefficients and
   * sigma, as by R's {@code logLik}: 1/2 (sum log w - N (log 2 pi + 1 - log N + log rss)).
   */
  public double logLikelihood() {
    double n = numInstances();
    double logRss = 2 * Math.log(fit.norm());
    return 0.5 * (moments().logWeights() - n * (Math.log(2 * Math.PI) + 1 - Math.log(n) + logRss));
  }

  /** Akaike's criterion: -2 {@link #logLikelihood()} + 2 (rank + 1). */
  public double aic() {
    return -2 * logLikelihood() + 2.0 * (fit.rank() + 1);
  }

  /** Schwarz's criterion: -2 {@link #logLikelihood()} + log N (rank + 1). */
  public double bic() {
    return -2 * logLikelihood() + Math.log(numInstances()) * (fit.rank() + 1);
  }

  /**
   * Minimum, quartiles and maximum of sqrt(w) (y - yhat), by one more pass over the training data
   * at the first call; several passes for more than 2^20 rows.
   */
  public synchronized double[] residualQuartiles() {
    if (quartiles == null) {
      try (TrainingRows rows = source.rows(false)) {
        quartiles =
            ResidualQuartiles.of(
                rows.rdd(), fit.x(), fit.rows(), fit.instances(), ResidualQuartiles.COLLECTED);
      }
    }
    return quartiles.clone();
  }

  /**
   * The table of coefficients: term, estimate, std_error, t_value, p_value, with the intercept
   * first as in R; null if a coefficient is not defined. Absorbed effects are left out.
   */
  public Dataset<Row> toDataFrame() {
    return new CoefficientTable(this, source, fit).toDataFrame();
  }

  /**
   * The absorbed effects: term, estimate; null if an effect is not defined. The first absorbed
   * factor has all its levels, the others all except their reference, which is 0. (These are the
   * effects of R's dummies. Those of fixest may have other references, but the same sums.)
   */
  public Dataset<Row> absorbedEffects() {
    return new CoefficientTable(this, source, fit).absorbed();
  }

  /**
   * The absorbed factors, each with the range of its effects among the coefficients, in their
   * order.
   */
  public List<AbsorbedFactor> absorbedFactors() {
    return source.design() == null ? List.of() : source.design().absorbedFactors();
  }

  /** The text of R's {@code print(summary(lm(...)))}, with at most 100 coefficients. */
  @Override
  public String toString() {
    return toString(CoefficientTable.SHOWN);
  }

  /**
   * The table with more or fewer coefficients.
   *
   * @param coefficients maximum number of coefficients shown
   */
  public String toString(int coefficients) {
    return new CoefficientTable(this, source, fit).text(coefficients);
  }

  /** Prints {@link #toString()}. */
  public void show() {
    show(CoefficientTable.SHOWN);
  }

  /** Prints {@link #toString(int)}. */
  public void show(int coefficients) {
    System.out.println(toString(coefficients));
  }

  /** Minimum and maximum of sqrt(w) (y - yhat). */
  public double[] devianceResiduals() {
    return moments().devianceRange();
  }
}
