/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.condition.Condition;
import io.sparqr.spark.report.SolveReport;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The solver's warnings about columns, in the words of a regression: with the names of coefficients
 * in place of the columns' numbers.
 *
 * @param names of all columns
 */
record NamedWarnings(List<String> names) {

  /** Nearly dependent columns that are named, at most. */
  private static final int SHOWN = 10;

  /** The beginning of a warning about a choice, and a list in it. */
  private static final String DEPENDENT = "dependent columns ";

  private static final Pattern LIST = Pattern.compile("(columns|instead of) (\\d+(?:, \\d+)*)");

  SolveReport in(SolveReport report) {
    int[] near = report.rankTest().nearlyDependent();
    return report.withWarnings(
        w ->
            w.startsWith(Condition.WARNING) && near.length > 0
                ? w.replaceFirst(";.*", "") + "; " + nearly(near)
                : w.startsWith(DEPENDENT) ? named(w) : w);
  }

  private String nearly(int[] columns) {
    String which =
        Arrays.stream(columns)
            .limit(SHOWN)
            .mapToObj(names::get)
            .collect(Collectors.joining(", ", "", columns.length > SHOWN ? ", ..." : ""));
    return "the columns of "
        + which
        + " are nearly dependent: a rank tolerance of 1e-7 (rankTolerance, --rank-tolerance) drops the"
        + " later ones as R does";
  }

  private String named(String warning) {
    Matcher lists = LIST.matcher(warning);
    return lists.replaceAll(
        m ->
            Matcher.quoteReplacement(
                m.group(1)
                    + " "
                    + Arrays.stream(m.group(2).split(", "))
                        .map(number -> names.get(Integer.parseInt(number)))
                        .collect(Collectors.joining(", "))));
  }
}
