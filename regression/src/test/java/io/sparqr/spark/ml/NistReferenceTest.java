/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.SingularValueDecomposition;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The linear regressions of NIST's Statistical Reference Datasets against their certified values.
 * The bounds are those of perturbation theory for a backward stable method on the column-scaled
 * design B = A D^-1 (Wedin 1973; Bjorck 1996, section 1.4), y = D x, e = {@link Tolerances#of}:
 *
 * <pre>
 * |dy_j| <= e kappa (||y|| + ||b|| / s_1 + kappa ||r|| / s_1)
 * |d||r||| <= e (||b|| + s_1 ||y||)
 * |d(se_j d_j)| <= sigma sqrt(2) e kappa / s_n + d sigma / s_n
 * </pre>
 *
 * Also printed: the digits that are right, -log10 of the relative error (Altman et al. 2004).
 */
class NistReferenceTest {

  private static final Path NIST =
      Path.of(System.getProperty("sparqr.shared", "absent"), "data", "nist");

  @ParameterizedTest(name = "{0}")
  @EnumSource
  void agreesWithCertifiedValues(NistSet name) throws IOException {
    Assumptions.assumeTrue(
        Files.isRegularFile(NIST.resolve("certified.tsv")), "no NIST data beside the repository");
    NistSet.Problem p = name.read(NIST);
    boolean intercept = name.intercept();
    int m = p.b().length;
    int n = p.estimate().length;
    int features = intercept ? n - 1 : n;
    var ones = new double[m];
    java.util.Arrays.fill(ones, 1);
    var x = new double[m][];
    for (int i = 0; i < m; i++) {
      x[i] = java.util.Arrays.copyOf(p.a()[i], features);
    }
    var model =
        new SparseQRRegression().setFitIntercept(intercept).fit(new Sample(x, p.b(), ones).data());
    SparseQRRegressionSummary s = model.summary();
    double[] found = java.util.Arrays.copyOf(model.coefficients().toArray(), n);
    if (intercept) {
      found[n - 1] = model.intercept();
    }
    double[] errors = s.coefficientStandardErrors();

    double[] d = columnNorms(p.a());
    double[] singular = scaledSingularValues(p.a(), d);
    double kappa = singular[0] / singular[n - 1];
    double e = Tolerances.of(m, n, 1);
    double y = 0;
    for (int j = 0; j < n; j++) {
      y = Math.hypot(y, d[j] * p.estimate()[j]);
    }
    double b = norm(p.b());
    double r = p.deviation() * Math.sqrt(m - n);
    double dy = e * kappa * (y + b / singular[0] + kappa * r / singular[0]);
    double dr = e * (b + singular[0] * y);
    double dSigma = dr / Math.sqrt(m - n);
    double dError = (p.deviation() * Math.sqrt(2) * e * kappa + dSigma) / singular[n - 1];

    assertThat(s.rank()).isEqualTo(n);
    assertThat(s.degreesOfFreedom()).isEqualTo(m - n);
    double digits = 15;
    double errorDigits = 15;
    for (int j = 0; j < n; j++) {
      String what = name + ", coefficient " + j + ", kappa " + kappa;
      assertThat(Math.abs(found[j] - p.estimate()[j]) * d[j]).as(what).isLessThanOrEqualTo(dy);
      assertThat(Math.abs(errors[j] - p.error()[j]) * d[j])
          .as("standard error of " + what)
          .isLessThanOrEqualTo(dError);
      digits = Math.min(digits, digits(found[j], p.estimate()[j]));
      errorDigits = Math.min(errorDigits, digits(errors[j], p.error()[j]));
    }
    double total = r * r / (1 - p.r2());
    double dR2 = p.r2() == 1 ? e : e + (2 * r + dr) * dr / total;
    assertThat(Math.abs(s.r2() - p.r2())).as(name + ", r2").isLessThanOrEqualTo(dR2);
    System.out.printf(
        Locale.ROOT,
        "NIST %-8s scaled condition %.1e: estimates %.1f digits (bound %.1f), standard errors"
            + " %.1f%n",
        name,
        kappa,
        digits,
        -Math.log10(dy / y),
        errorDigits);
  }

  private static double digits(double found, double certified) {
    if (found == certified) {
      return 15;
    }
    double off = Math.abs(found - certified);
    return Math.min(15, -Math.log10(certified == 0 ? off : off / Math.abs(certified)));
  }

  private static double[] columnNorms(double[][] a) {
    var d = new double[a[0].length];
    for (double[] row : a) {
      for (int j = 0; j < d.length; j++) {
        d[j] = Math.hypot(d[j], row[j]);
      }
    }
    return d;
  }

  private static double[] scaledSingularValues(double[][] a, double[] d) {
    var b = new double[a.length][d.length];
    for (int i = 0; i < a.length; i++) {
      for (int j = 0; j < d.length; j++) {
        b[i][j] = a[i][j] / d[j];
      }
    }
    return new SingularValueDecomposition(new Array2DRowRealMatrix(b, false)).getSingularValues();
  }

  private static double norm(double[] v) {
    double norm = 0;
    for (double t : v) {
      norm = Math.hypot(norm, t);
    }
    return norm;
  }
}
