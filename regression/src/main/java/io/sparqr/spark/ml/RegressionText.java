/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A fit in the layout of R's {@code print(summary(lm))}: quartiles of the residuals, the table of
 * coefficients, residual standard error, R squared, F.
 */
final class RegressionText {

  /** Significant digits; some numbers of a column may need fewer. */
  private static final int DIGITS = 4;

  private static final int TEST_DIGITS = 3;

  /** A p value below the spacing of doubles at 1 is printed as below it. */
  private static final double LEAST = Math.ulp(1.0);

  /** p values from here on are printed without a power of ten. */
  private static final double PLAIN = 1e-4;

  private static final double[] LIMITS = {0.001, 0.01, 0.05, 0.1};
  private static final String[] STARS = {"***", "**", "*", ".", ""};
  private static final String LEGEND =
      "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1";

  private static final String[] QUARTILES = {"Min", "1Q", "Median", "3Q", "Max"};

  private RegressionText() {}

  /** Minimum, quartiles and maximum under their names. */
  static String quartiles(double[] values) {
    double most = 0;
    for (double v : values) {
      most = Math.max(most, Math.abs(v));
    }
    // Numbers that are small beside the largest get no more decimals than its digits justify.
    int decimals = most > 0 ? (int) Math.max(0, Math.round(DIGITS + 1 - Math.log10(most))) : 0;
    double[] rounded = Arrays.stream(values).map(v -> NumberFormat.round(v, decimals)).toArray();
    NumberFormat format = NumberFormat.of(rounded, DIGITS);
    var rows = new ArrayList<String[]>();
    String[] text = Arrays.stream(rounded).mapToObj(format::text).toArray(String[]::new);
    int width =
        Stream.concat(Arrays.stream(text), Arrays.stream(QUARTILES))
            .mapToInt(String::length)
            .max()
            .orElse(0);
    rows.add(QUARTILES.clone());
    rows.add(
        Arrays.stream(text).map(t -> " ".repeat(width - t.length()) + t).toArray(String[]::new));
    for (int k = 0; k < QUARTILES.length; k++) {
      // All columns have equal width.
      rows.get(0)[k] = " ".repeat(Math.max(0, width - QUARTILES[k].length())) + QUARTILES[k];
    }
    return columns(rows, false);
  }

  /** The table without standard errors. */
  static String table(List<String> names, double[] estimates) {
    var rows = new ArrayList<String[]>();
    rows.add(new String[] {"", "Estimate"});
    NumberFormat format = NumberFormat.of(rounded(estimates), DIGITS);
    for (int k = 0; k < names.size(); k++) {
      rows.add(new String[] {names.get(k), format.text(estimates[k])});
    }
    return columns(rows, true);
  }

  /**
   * The table.
   *
   * @param names of the coefficients shown
   * @param estimates NaN where a coefficient is not defined
   */
  static String table(
      List<String> names, double[] estimates, double[] errors, double[] t, double[] p) {
    var rows = new ArrayList<String[]>();
    boolean stars = Arrays.stream(p).anyMatch(v -> v < LIMITS[LIMITS.length - 1]);
    String[] header = {"", "Estimate", "Std. Error", "t value", "Pr(>|t|)", ""};
    rows.add(stars ? header : Arrays.copyOf(header, header.length - 1));
    double[] both = Arrays.copyOf(estimates, 2 * estimates.length);
    System.arraycopy(errors, 0, both, estimates.length, errors.length);
    both = rounded(both);
    NumberFormat format = NumberFormat.of(both, DIGITS);
    double[] tests = Arrays.stream(t).map(v -> NumberFormat.round(v, TEST_DIGITS)).toArray();
    NumberFormat tFormat = NumberFormat.of(tests, DIGITS);
    String[] pText = pValues(p);
    for (int k = 0; k < names.size(); k++) {
      String[] row = {
        names.get(k),
        format.text(both[k]),
        format.text(both[estimates.length + k]),
        tFormat.text(tests[k]),
        pText[k],
        stars(p[k])
      };
      rows.add(stars ? row : Arrays.copyOf(row, row.length - 1));
    }
    return columns(rows, true) + (stars ? "---\n" + LEGEND + "\n" : "");
  }

  /** Rounded to the decimals needed for the significant digits of the smallest number. */
  private static double[] rounded(double[] numbers) {
    double least = Double.POSITIVE_INFINITY;
    for (double x : numbers) {
      if (Double.isFinite(x) && x != 0) {
        least = Math.min(least, Math.abs(x));
      }
    }
    if (least == Double.POSITIVE_INFINITY) {
      return numbers;
    }
    int decimals = Math.max(1, DIGITS - 1 - (int) Math.floor(Math.log10(least)));
    return Arrays.stream(numbers).map(x -> NumberFormat.round(x, decimals)).toArray();
  }

  private static String stars(double p) {
    int k = 0;
    while (k < LIMITS.length && !(p < LIMITS[k])) {
      k++;
    }
    return STARS[k];
  }

  /**
   * p values of a column: one format for those from 1e-4 on, another with powers of ten for the
   * others.
   */
  static String[] pValues(double[] p) {
    NumberFormat plain =
        NumberFormat.of(Arrays.stream(p).filter(v -> v >= PLAIN).toArray(), TEST_DIGITS);
    NumberFormat powers =
        NumberFormat.of(
            Arrays.stream(p).filter(v -> v >= LEAST && v < PLAIN).toArray(), TEST_DIGITS);
    var text = new String[p.length];
    int widest = 0;
    for (int k = 0; k < p.length; k++) {
      if (!(p[k] < LEAST)) {
        text[k] = (p[k] < PLAIN ? powers : plain).text(p[k]);
        widest = Math.max(widest, text[k].length());
      }
    }
    String least = "2e-16";
    String below = widest > least.length() + 1 ? "< " + least : "<" + least;
    for (int k = 0; k < p.length; k++) {
      text[k] = text[k] == null ? below : text[k];
    }
    return text;
  }

  /** One p value, to four digits. */
  static String pValue(double p) {
    return p < LEAST ? "< 2.2e-16" : NumberFormat.alone(p, DIGITS);
  }

  /** Lines of columns, aligned right except for the names and the stars. */
  private static String columns(List<String[]> rows, boolean named) {
    int n = rows.get(0).length;
    var width = new int[n];
    for (String[] row : rows) {
      for (int c = 0; c < n; c++) {
        width[c] = Math.max(width[c], row[c].length());
      }
    }
    var text = new StringBuilder();
    for (String[] row : rows) {
      var line = new StringBuilder();
      for (int c = 0; c < n; c++) {
        String pad = " ".repeat(width[c] - row[c].length());
        boolean left = named && c == 0 || c == 5;
        line.append(c == 0 ? "" : " ").append(left ? row[c] + pad : pad + row[c]);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
