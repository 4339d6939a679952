/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

/** Comparison of the rows of R of a task's fronts. */
public final class FrontFactors {

  private FrontFactors() {}

  /** Requires the same fronts with the same bits, and checksums that are those of their values. */
  public static void requireSame(List<FrontFactor> rows, List<FrontFactor> expected) {
    assertThat(rows).hasSameSizeAs(expected);
    for (int f = 0; f < rows.size(); f++) {
      FrontFactor a = rows.get(f);
      FrontFactor b = expected.get(f);
      assertThat(a.front()).isEqualTo(b.front());
      assertThat(a.fn()).isEqualTo(b.fn());
      assertThat(a.livePivot()).isEqualTo(b.livePivot());
      assertThat(a.rhs()).isEqualTo(b.rhs());
      assertThat(a.bits()).isEqualTo(b.bits()).isEqualTo(a.sum());
      assertThat(a.values().slice(0, a.length())).isEqualTo(b.values().slice(0, b.length()));
    }
  }
}
