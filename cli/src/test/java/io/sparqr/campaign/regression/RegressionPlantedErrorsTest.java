/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A right answer passes the campaign's comparison, one that is wrong by 1e-6 does not. */
@Tag("numbers")
class RegressionPlantedErrorsTest {

  private static final double WRONG = 1 + 1e-6;

  /** A case that has a fit, with all figures of its first coefficients. */
  private static RegressionCase plain() {
    return CaseGenerator.draw(3, 0);
  }

  /** The right answer. */
  private static Found right(Expected e) {
    var rows = new ArrayList<Found.Line>();
    for (Expected.Coefficient c : e.coefficients()) {
      rows.add(
          new Found.Line(
              c.name(), c.estimate().value(), c.error().value(), c.t().value(), c.p().value()));
    }
    var scalars = new TreeMap<String, Double>();
    e.scalars().forEach((name, f) -> scalars.put(name, f.value()));
    return new Found("", rows, scalars);
  }

  private static List<String> found(UnaryOperator<Found> change) {
    Expected e = Oracle.of(plain(), false);
    assertThat(e.fails()).isFalse();
    assertThat(new Comparison(e, right(e)).differences()).isEmpty();
    return new Comparison(e, change.apply(right(e)))
        .differences().stream().map(Comparison.Difference::what).toList();
  }

  private static Found with(Found f, UnaryOperator<Found.Line> change) {
    var rows = new ArrayList<>(f.rows());
    rows.set(1, change.apply(rows.get(1)));
    return new Found("", rows, f.scalars());
  }

  @Test
  void figuresOfACoefficient() {
    assertThat(
            found(
                f ->
                    with(
                        f,
                        l ->
                            new Found.Line(
                                l.name(), l.estimate() * WRONG, l.error(), l.t(), l.p()))))
        .containsExactly("estimate");
    assertThat(
            found(
                f ->
                    with(
                        f,
                        l ->
                            new Found.Line(
                                l.name(), l.estimate(), l.error() * WRONG, l.t(), l.p()))))
        .containsExactly("error");
    assertThat(
            found(
                f ->
                    with(
                        f,
                        l ->
                            new Found.Line(
                                l.name(), l.estimate(), l.error(), -l.t(), l.p() * WRONG))))
        .containsExactly("t", "p");
    assertThat(found(f -> with(f, l -> new Found.Line(l.name(), Double.NaN, 0, 0, 0))))
        .containsExactly("defined");
    assertThat(
            found(
                f ->
                    with(
                        f,
                        l ->
                            new Found.Line(
                                l.name() + ".1", l.estimate(), l.error(), l.t(), l.p()))))
        .containsExactly("names");
  }

  @Test
  void figuresOfTheFit() {
    for (String name : List.of("n", "rank", "r2", "sigma", "f", "loglik")) {
      assertThat(
              found(
                  f -> {
                    var scalars = new TreeMap<>(f.scalars());
                    scalars.merge(name, WRONG, (a, b) -> a * b);
                    return new Found("", f.rows(), scalars);
                  }))
          .as(name)
          .containsExactly(name);
    }
  }

  @Test
  void anError() {
    assertThat(found(f -> new Found("no", List.of(), Map.of()))).containsExactly("error");
  }

  /** Every case can be drawn, twice the same. */
  @Test
  void casesAreRepeatable() {
    for (int k = 0; k < 200; k++) {
      RegressionCase c = CaseGenerator.draw(11, k);
      assertThat(c).hasToString(CaseGenerator.draw(11, k).toString());
      assertThat(c.sheet().csv()).isEqualTo(CaseGenerator.draw(11, k).sheet().csv());
    }
  }
}
