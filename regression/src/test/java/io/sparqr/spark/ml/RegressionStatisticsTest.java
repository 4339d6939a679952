/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampling;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.DenseStatistics;
import io.sparqr.spark.Designs;
import java.util.Arrays;
import java.util.Random;
import org.apache.commons.math3.distribution.TDistribution;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Summaries of fits against dense QR of the kept columns, and what R's summary of a linear model
 * says of odd cases. {@code -Dsparqr.statistics.fits=5000} takes more random designs.
 */
@Tag("numbers")
class RegressionStatisticsTest {

  private static final long SEED = Long.getLong("test.seed", 20260303L);
  private static final int FITS =
      Integer.getInteger("sparqr.statistics.fits", Sampling.WHOLE ? 24 : 8);

  /** What computes: cpu or cuda. */
  String backend() {
    return "cpu";
  }

  private SparseQRRegression regression() {
    return new SparseQRRegression().setBackend(backend()).setWeightCol("weight");
  }

  private static double[] ones(int m) {
    double[] w = new double[m];
    Arrays.fill(w, 1);
    return w;
  }

  private static Offset<Double> near(double value, double tolerance) {
    return within(tolerance * Math.abs(value));
  }

  @Test
  void randomDesignsHaveTheStatisticsOfTheirKeptColumns() {
    int dead = 0;
    int without = 0;
    int perfect = 0;
    for (int i = 0; i < FITS; i++) {
      long own = SEED * 1_000_003L + i;
      Designs.Design d = Designs.random(new Random(own));
      double weights = Arrays.stream(d.w()).sum();
      SparseQRRegressionModel model =
          regression()
              .setFitIntercept(d.intercept())
              .setRegParam(d.ridge() / weights)
              .fit(new Sample(d.a(), d.y(), d.w()).data());
      SparseQRRegressionSummary s = model.summary();
      perfect += check(d, model, "seed " + own) ? 0 : 1;
      dead += s.deadColumns().length;
      without += s.degreesOfFreedom() <= 0 ? 1 : 0;
    }
    System.out.printf(
        "%d fits, %d dead columns, %d without degrees of freedom, %d with a residual of rounding%n",
        FITS, dead, without, perfect);
    assertThat(perfect).isLessThan(FITS / 4);
    assertThat(dead).isGreaterThan(FITS);
    assertThat(without).isLessThan(FITS / 2);
  }

  /** False if the residual consists of rounding errors, so that there is no sigma to compare. */
  private static boolean check(Designs.Design d, SparseQRRegressionModel model, String what) {
    SparseQRRegressionSummary s = model.summary();
    double[][] a = d.weighted();
    double[] b = d.weightedLabels();
    var oracle = new DenseStatistics(a, b, s.deadColumns());
    int freedom = d.instances() - oracle.kept.length;
    double norm = oracle.residual(a, b, d.instances());
    double sigma = freedom > 0 ? norm / Math.sqrt(freedom) : Double.NaN;
    double[] errors = s.coefficientStandardErrors();
    double[] scaled = new double[errors.length];
    for (int j = 0; j < errors.length; j++) {
      scaled[j] = errors[j] / sigma;
    }
    assertThat(s.numInstances()).as(what).isEqualTo(d.instances());
    assertThat(s.degreesOfFreedom()).as(what).isEqualTo(freedom);
    if (freedom <= 0) {
      assertThat(errors).as(what).containsOnly(Double.NaN);
      assertThat(s.pValues()).as(what).containsOnly(Double.NaN);
      assertThat(s.r2adj()).as(what).isNaN();
      return true;
    }
    double labels = 0;
    for (double v : b) {
      labels = Math.hypot(labels, v);
    }
    if (norm < 1e-8 * labels) {
      return false;
    }
    oracle.check(a, scaled, what);
    assertThat(s.rootMeanSquaredError() * Math.sqrt(Arrays.stream(d.w()).sum()))
        .as(what)
        .isCloseTo(norm, near(norm, oracle.tolerance() * labels / norm));
    double[] x = Arrays.copyOf(model.coefficients().toArray(), errors.length);
    if (d.intercept()) {
      x[x.length - 1] = model.intercept();
    }
    checkTests(s, x, freedom, what);
    return true;
  }

  private static void checkTests(
      SparseQRRegressionSummary s, double[] x, int freedom, String what) {
    var student = new TDistribution(null, freedom);
    for (int j = 0; j < x.length; j++) {
      double t = x[j] / s.coefficientStandardErrors()[j];
      if (Double.isNaN(t)) {
        assertThat(s.tValues()[j]).as(what).isNaN();
        assertThat(s.pValues()[j]).as(what).isNaN();
      } else {
        double p = 2 * student.cumulativeProbability(-Math.abs(t));
        assertThat(s.tValues()[j]).as(what).isEqualTo(t);
        assertThat(s.pValues()[j]).as(what).isEqualTo(p);
      }
    }
  }

  /** R 4: lm(y ~ x2) of the columns that are left: se 2.309 and 1.155, t -+2.165, p 0.163. */
  @Test
  void theSmallestRankDeficientRegressionIsThatOfR() {
    double[][] x = {{1, 0, 0, 1}, {0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}};
    var s =
        new SparseQRRegression()
            .setBackend(backend())
            .fit(new Sample(x, new double[] {1, 8, 4, 6}, ones(4)).data())
            .summary();
    assertThat(s.rank()).isEqualTo(2);
    assertThat(s.degreesOfFreedom()).isEqualTo(2);
    double[][] design = {{1, 0, 0, 1, 1}, {0, 1, 1, 0, 1}, {0, 1, 1, 0, 1}, {0, 1, 1, 0, 1}};
    var oracle = new DenseStatistics(design, new double[] {1, 8, 4, 6}, s.deadColumns());
    boolean difference = Arrays.binarySearch(s.deadColumns(), 4) < 0;
    int met = 0;
    for (int j = 0; j < 5; j++) {
      if (Double.isNaN(oracle.unscaledErrors[j])) {
        assertThat(s.pValues()[j]).isNaN();
        continue;
      }
      double error = s.coefficientStandardErrors()[j];
      assertThat(error).isCloseTo(2 * oracle.unscaledErrors[j], within(Tolerances.REORDERED));
      if (difference && j < 4) {
        assertThat(error).isCloseTo(2.309401, within(Tolerances.decimals(6)));
        assertThat(s.pValues()[j]).isCloseTo(0.162782, within(Tolerances.decimals(6)));
        met++;
      }
    }
    assertThat(met).isEqualTo(difference ? 1 : 0);
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e200, 1e-200, 1e150, 1e-150})
  void unitsOfFeaturesMakeNoDifference(double unit) {
    Sample base = Sample.random(SEED, 30, 3);
    double[][] scaled = new double[30][];
    for (int i = 0; i < 30; i++) {
      double[] v = base.x()[i];
      scaled[i] = new double[] {v[0], v[1] * unit, v[2] / unit};
    }
    var plain = regression().fit(base.data()).summary();
    var s = regression().fit(new Sample(scaled, base.y(), base.w()).data()).summary();
    double[] expected = plain.coefficientStandardErrors();
    double[] errors = s.coefficientStandardErrors();
    assertThat(errors[0]).isCloseTo(expected[0], near(expected[0], Tolerances.SOLUTION));
    assertThat(errors[1] * unit).isCloseTo(expected[1], near(expected[1], Tolerances.SOLUTION));
    assertThat(errors[2] / unit).isCloseTo(expected[2], near(expected[2], Tolerances.SOLUTION));
    assertThat(errors[3]).isCloseTo(expected[3], near(expected[3], Tolerances.SOLUTION));
    assertThat(s.r2()).isCloseTo(plain.r2(), within(Tolerances.SOLUTION));
    assertThat(s.pValues()[1]).isCloseTo(plain.pValues()[1], within(Tolerances.SOLUTION));
    assertThat(s.report().warnings()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e200, 1e-200, 1e-150})
  void unitsOfLabelsMakeNoDifference(double unit) {
    Sample base = Sample.random(SEED, 30, 3);
    double[] y = Arrays.stream(base.y()).map(v -> v * unit).toArray();
    var plain = regression().fit(base.data()).summary();
    for (boolean errors : new boolean[] {true, false}) {
      var s =
          regression()
              .setComputeStandardErrors(errors)
              .fit(new Sample(base.x(), y, base.w()).data())
              .summary();
      assertThat(s.r2()).isCloseTo(plain.r2(), within(Tolerances.SOLUTION));
      assertThat(s.r2adj()).isCloseTo(plain.r2adj(), within(Tolerances.SOLUTION));
      double root = plain.rootMeanSquaredError();
      assertThat(s.rootMeanSquaredError() / unit).isCloseTo(root, near(root, Tolerances.SOLUTION));
      if (errors) {
        double[] e = s.coefficientStandardErrors();
        for (int j = 0; j < 4; j++) {
          double expected = plain.coefficientStandardErrors()[j];
          assertThat(e[j] / unit).isCloseTo(expected, near(expected, Tolerances.SOLUTION));
          assertThat(s.tValues()[j])
              .isCloseTo(plain.tValues()[j], near(plain.tValues()[j], Tolerances.RESIDUAL));
        }
      }
    }
  }

  /** As R: summary(lm(c(5, 5, 5, 5, 5) ~ x)) has r.squared NaN and warns of a perfect fit. */
  @Test
  void aConstantLabelHasNoR2AndWarns() {
    Sample base = Sample.random(SEED, 5, 2);
    for (double label : new double[] {5, 0.1, 0, 1e300}) {
      double[] y = new double[5];
      Arrays.fill(y, label);
      var s = regression().fit(new Sample(base.x(), y, base.w()).data()).summary();
      assertThat(s.r2()).as("label %s", label).isNaN();
      assertThat(s.r2adj()).isNaN();
      assertThat(s.report().warnings())
          .anyMatch(w -> w.startsWith("essentially perfect fit"))
          .contains("the label is constant: r2 is NaN");
      var bare =
          regression()
              .setComputeStandardErrors(false)
              .fit(new Sample(base.x(), y, base.w()).data())
              .summary();
      assertThat(bare.r2()).isNaN();
    }
    double[] y = new double[5];
    Arrays.fill(y, 5);
    var through =
        regression().setFitIntercept(false).fit(new Sample(base.x(), y, base.w()).data()).summary();
    assertThat(through.r2()).isBetween(0.0, 1.0);
    assertThat(through.report().warnings()).isEmpty();
  }

  @Test
  void anExactLineWarnsAndAnAlmostExactOneDoesNot() {
    Sample base = Sample.random(SEED, 12, 2);
    for (double noise : new double[] {0, 1e-9}) {
      double[] y = new double[12];
      for (int i = 0; i < 12; i++) {
        y[i] = 2 * base.x()[i][0] - base.x()[i][1] + 1 + noise * (i % 5);
      }
      var s = regression().fit(new Sample(base.x(), y, base.w()).data()).summary();
      assertThat(s.r2()).isCloseTo(1, within(Tolerances.SOLUTION));
      boolean warned =
          s.report().warnings().stream().anyMatch(w -> w.startsWith("essentially perfect fit"));
      assertThat(warned).as("noise %s", noise).isEqualTo(noise == 0);
      assertThat(s.coefficientStandardErrors()).doesNotContain(Double.NaN);
    }
  }

  @Test
  void noDegreesOfFreedomIsSaid() {
    Sample few = Sample.random(SEED, 3, 2);
    // with a ridge there is a residual, although there is no degree of freedom
    for (double ridge : new double[] {0, 0.1}) {
      var s = regression().setRegParam(ridge).fit(few.data()).summary();
      assertThat(s.degreesOfFreedom()).isZero();
      assertThat(s.coefficientStandardErrors()).containsOnly(Double.NaN);
      assertThat(s.r2adj()).isNaN();
      assertThat(s.report().warnings())
          .containsExactly("no residual degrees of freedom: standard errors are NaN");
    }
  }

  /** R: rows of weight 0 are left out of n and df, and have fitted values all the same. */
  @Test
  void rowsOfWeightZeroDoNotCountButArePredicted() {
    Sample base = Sample.random(SEED, 20, 3);
    double[] w = base.w().clone();
    double[] y = base.y().clone();
    double[][] x = base.x().clone();
    double[][] keptX = new double[15][];
    double[] keptY = new double[15];
    double[] keptW = new double[15];
    int k = 0;
    for (int i = 0; i < 20; i++) {
      if (i % 4 == 2) {
        w[i] = 0;
        y[i] = 1e6;
      } else {
        keptX[k] = x[i];
        keptY[k] = y[i];
        keptW[k++] = w[i];
      }
    }
    var expected = regression().fit(new Sample(keptX, keptY, keptW).data());
    var model = regression().fit(new Sample(x, y, w).data());
    var e = expected.summary();
    var s = model.summary();
    assertThat(s.numInstances()).isEqualTo(15);
    assertThat(s.degreesOfFreedom()).isEqualTo(11);
    for (int j = 0; j < 4; j++) {
      double error = e.coefficientStandardErrors()[j];
      assertThat(s.coefficientStandardErrors()[j])
          .isCloseTo(error, near(error, Tolerances.SOLUTION));
      assertThat(s.pValues()[j])
          .isCloseTo(e.pValues()[j], near(e.pValues()[j], Tolerances.ILL_CONDITIONED));
    }
    assertThat(s.r2()).isCloseTo(e.r2(), within(Tolerances.REORDERED));
    assertThat(s.r2adj()).isCloseTo(e.r2adj(), within(Tolerances.REORDERED));
    assertThat(s.meanAbsoluteError()).isCloseTo(e.meanAbsoluteError(), within(Tolerances.SOLUTION));
    assertThat(s.predictions().count()).isEqualTo(20);
    assertThat(s.predictions().select("prediction").collectAsList())
        .allMatch(r -> Double.isFinite(r.getDouble(0)));
  }

  /** A level that occurs only with weight 0 has no coefficient, like NA in R. */
  @Test
  void aLevelOfWeightZeroIsNotIdentified() {
    double[][] x = new double[9][3];
    double[] y = new double[9];
    double[] w = ones(9);
    for (int i = 0; i < 9; i++) {
      x[i][i % 3] = 1;
      y[i] = i * i;
      w[i] = i % 3 == 1 ? 0 : 1;
    }
    var s = regression().setFitIntercept(false).fit(new Sample(x, y, w).data()).summary();
    assertThat(s.deadColumns()).containsExactly(1);
    assertThat(s.numInstances()).isEqualTo(6);
    assertThat(s.degreesOfFreedom()).isEqualTo(4);
    assertThat(s.coefficientStandardErrors()[1]).isNaN();
    assertThat(s.tValues()[1]).isNaN();
    assertThat(s.coefficientStandardErrors()[0]).isPositive();
  }

  /** With and without errors the same fit; a level of one observation is exact either way. */
  @Test
  void leavingTheErrorsOutChangesNothingElse() {
    Sample base = Sample.random(SEED, 16, 2);
    double[][] x = new double[16][];
    for (int i = 0; i < 16; i++) {
      x[i] = new double[] {base.x()[i][0], base.x()[i][1], i == 3 ? 1 : 0, i == 7 ? 1 : 0};
    }
    var data = new Sample(x, base.y(), base.w()).data();
    var with = regression().fit(data);
    var without = regression().setComputeStandardErrors(false).fit(data);
    for (int j = 0; j < 4; j++) {
      double b = with.coefficients().apply(j);
      assertThat(without.coefficients().apply(j)).isCloseTo(b, near(b, Tolerances.SOLUTION));
      assertThat(with.summary().coefficientStandardErrors()[j]).isPositive();
    }
    assertThat(without.intercept())
        .isCloseTo(with.intercept(), near(with.intercept(), Tolerances.SOLUTION));
    assertThat(without.summary().r2()).isCloseTo(with.summary().r2(), within(Tolerances.REORDERED));
    assertThat(without.summary().meanAbsoluteError())
        .isCloseTo(with.summary().meanAbsoluteError(), within(Tolerances.SOLUTION));
  }

  /** sqrt(a^2 - p^2) is rounding where the ridge's part p is nearly all of a. */
  @Test
  void aRidgeOnAnExactLineLeavesItsOwnResidual() {
    int m = 6;
    double[][] x = new double[m][1];
    double[] y = new double[m];
    for (int i = 0; i < m; i++) {
      x[i][0] = i + 1;
      y[i] = 3 * x[i][0];
    }
    for (double lambda : new double[] {1e-6, 1e-9, 1e-12}) {
      var model =
          regression()
              .setFitIntercept(false)
              .setRegParam(lambda / m)
              .fit(new Sample(x, y, ones(m)).data());
      double norm = 0;
      for (int i = 0; i < m; i++) {
        norm = Math.hypot(norm, y[i] - x[i][0] * model.coefficients().apply(0));
      }
      // y - x b = x 3 lambda / (91 + lambda), up to the rounding of y
      assertThat(norm)
          .isCloseTo(3 * lambda / (91 + lambda) * Math.sqrt(91), within(Tolerances.REORDERED));
      var s = model.summary();
      assertThat(s.rootMeanSquaredError() * Math.sqrt(m))
          .isCloseTo(norm, near(norm, Tolerances.RESIDUAL));
      double error = norm / Math.sqrt((m - 1) * (91 + lambda));
      assertThat(s.coefficientStandardErrors()[0])
          .isCloseTo(error, near(error, Tolerances.RESIDUAL));
    }
  }
}
