/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.symbolic.GramWork;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ColumnStripsTest {

  private static final int W = ColumnStrips.WIDTH;

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0, 3",
    "5, 9",
    "512, 1024",
    "1024, 1025",
    "1500, 1503",
    "700, 2000",
    "1, 1537"
  })
  void everyEntryOfTheTrapezoidHasAPlaceOfItsOwn(int rows, int columns) {
    var a = new ColumnStrips(rows, columns);
    assertThat(a.columns()).isEqualTo(columns);
    assertThat(a.length()).isEqualTo(ColumnStrips.length(rows, columns));
    for (int j = 0; j < columns; j++) {
      assertThat(a.height(j)).isBetween(Math.min(rows, j + 1), rows);
      for (int i = 0; i < a.height(j); i++) {
        a.array(j)[a.at(j) + i] += 1 + i + 1e4 * j;
      }
    }
    double[] copy = new double[(rows + 2) * columns];
    a.copyTo(copy, rows + 2, rows);
    for (int j = 0; j < columns; j++) {
      for (int i = 0; i < rows + 2; i++) {
        double expected = i < a.height(j) ? 1 + i + 1e4 * j : 0;
        assertThat(copy[i + j * (rows + 2)]).as("%d, %d", i, j).isEqualTo(expected);
        assertThat(i < a.height(j) ? a.get(i, j) : 0).isEqualTo(expected);
      }
    }
  }

  /** So that blocks of dense kernels, and the strips in which fronts are copied, lie in one. */
  @ParameterizedTest
  @CsvSource({"1500, 1503", "700, 2000", "900, 901"})
  void columnsOfAStripAreOneArrayApartByItsLeadingDimension(int rows, int columns) {
    var a = new ColumnStrips(rows, columns);
    for (int j = 1; j < columns; j++) {
      if (columns <= ColumnStrips.WHOLE || j % W != 0) {
        assertThat(a.array(j)).isSameAs(a.array(j - 1));
        assertThat(a.at(j)).isEqualTo(a.at(j - 1) + a.ld(j));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"20000, 20001", "1500, 1501"})
  void aTriangleTakesHalfOfItsSquare(long rows, long columns) {
    long square = rows * columns;
    assertThat(ColumnStrips.length(rows, columns))
        .isBetween(square / 2, square / 2 + (W + columns / W) * rows);
  }

  /** The analysis forecasts it by figures of its own. */
  @ParameterizedTest
  @ValueSource(ints = {100, 1024, 1025, 3000, 20_000, 60_000})
  void theForecastKnowsItsLength(int n) {
    double length = ColumnStrips.length(n, n);
    assertThat(GramWork.triangle(n) / length).isBetween(0.98, 1.02);
  }

  @ParameterizedTest
  @CsvSource({"3, 5, 4", "2000, 1100, 2003"})
  void anArrayIsOneStrip(int rows, int columns, int ld) {
    double[] array = new double[ld * columns];
    var a = new ColumnStrips(array, ld, rows, columns);
    for (int j = 0; j < columns; j++) {
      assertThat(a.array(j)).isSameAs(array);
      assertThat(a.at(j)).isEqualTo(j * ld);
      assertThat(a.height(j)).isEqualTo(rows);
    }
  }
}
