/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.matrix.DenseRank;
import io.sparqr.sparse.CsrMatrix;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GalleryTest {

  @ParameterizedTest
  @CsvSource({
    "ch7-8-b3, 58800, 11760, 235200",
    "nug20, 72600, 15240, 304800",
    "nug15, 22275, 6330, 94950",
    "nug12, 8856, 3192, 38304",
    "cells3d40, 118638, 64000, 949104",
    "cells2d500, 498002, 250000, 1992008",
    "grad3d80, 2028800, 512000, 3545600",
    "ch5-5-b1, 200, 25, 400",
    "panel1000x50x4, 4000, 1050, 8000",
  })
  void hasTheStatedSize(String spec, int rows, int columns, int nonzeros) {
    CsrMatrix a = Gallery.generate("gen:" + spec);
    assertThat(a.rows()).isEqualTo(rows);
    assertThat(a.columns()).isEqualTo(columns);
    assertThat(a.nonzeros()).isEqualTo(nonzeros);
    a.pattern().validate();
  }

  @Test
  void oneHotLeavesOneLevelOutOfEveryFactorButTheFirst() {
    CsrMatrix a = Gallery.generate("gen:onehot1000000x5000x500x50");
    assertThat(a.rows()).isEqualTo(1_000_000);
    assertThat(a.columns()).isEqualTo(5553);
    a.pattern().validate();
    // Zipf: the first level of 500 has probability 1 / H(500) = 0.1472, of 50 1 / H(50) = 0.2223.
    double expected = 1e6 * (6 + (1 - 0.14722) + (1 - 0.22226));
    assertThat((double) a.nonzeros()).isBetween(expected - 3000, expected + 3000);
    int[] count = new int[5553];
    for (int k = 0; k < a.nonzeros(); k++) {
      count[a.columnIndex()[k]]++;
    }
    assertThat(count[0]).isEqualTo(1_000_000);
    // 1e6 / (H(5000) (l+1)), H(5000) = 9.0945.
    assertThat((double) count[5]).isBetween(109_956.0 - 1500, 109_956.0 + 1500);
    assertThat((double) count[6]).isBetween(54_978.0 - 1200, 54_978.0 + 1200);
    assertThat(count[5553 - 1]).isPositive();
  }

  /** Each row a worker and a firm; 15% of the workers at another firm the next year. */
  @Test
  void panelsHaveMovers() {
    CsrMatrix a = Gallery.generate("gen:panel100000x5000x3");
    a.pattern().validate();
    int moved = 0;
    for (int row = 0; row < a.rows(); row++) {
      assertThat(a.columnIndex()[2 * row]).isEqualTo(row / 3);
      int firm = a.columnIndex()[2 * row + 1] - 100_000;
      assertThat(firm).isBetween(0, 4999);
      if (row % 3 > 0) {
        int step = Math.floorMod(firm - (a.columnIndex()[2 * row - 1] - 100_000), 5000);
        assertThat(Math.min(step, 5000 - step)).isLessThanOrEqualTo(16);
        moved += step == 0 ? 0 : 1;
      }
    }
    // 30,000 +- 160 of 200,000
    assertThat(moved).isBetween(29_200, 30_800);
    assertThatThrownBy(() -> Gallery.generate("panel10x10"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void boundaryOfABoundaryVanishes() {
    CsrMatrix upper = Gallery.generate("ch4-5-b2");
    CsrMatrix lower = Gallery.generate("ch4-5-b1");
    assertThat(upper.columns()).isEqualTo(lower.rows());
    double[] x = new double[lower.columns()];
    for (int j = 0; j < x.length; j++) {
      x[j] = j * j + 1;
    }
    assertThat(upper.multiply(lower.multiply(x))).containsOnly(0.0);
    assertThat(lower.multiply(x)).doesNotContain(0.0);
  }

  /** Connected complexes have rank (vertices - 1); the 3 x 4 complex is a torus of 24 triangles. */
  @ParameterizedTest
  @CsvSource({"ch5-5-b1, 24", "ch3-4-b1, 11", "ch3-4-b2, 23", "ch3-3-b1, 8"})
  void chessboardIsRankDeficient(String spec, int rank) {
    CsrMatrix a = Gallery.generate(spec);
    assertThat(DenseRank.of(a)).isEqualTo(rank).isLessThan(a.columns());
  }

  /** Rank 742 of nug8 and 2794 of nug12 (lp_qap8, lp_qap12) both are n - (3 N (N-1) + 2). */
  @ParameterizedTest
  @ValueSource(ints = {3, 4, 5})
  void quadraticAssignmentIsRankDeficient(int size) {
    CsrMatrix a = Gallery.generate("nug" + size);
    assertThat(DenseRank.of(a)).isEqualTo(a.columns() - 3 * size * (size - 1) - 2);
  }

  /** Any permutation matrix, with y_ijkl = x_ij x_kl, satisfies the constraints. */
  @Test
  void quadraticAssignmentHoldsAtAPermutation() {
    int n = 5;
    int[] assigned = {2, 0, 4, 1, 3};
    CsrMatrix a = Gallery.generate("nug" + n);
    double[] x = new double[a.rows()];
    int row = 0;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        x[row++] = assigned[i] == j ? 1 : 0;
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        for (int k = i + 1; k < n; k++) {
          for (int l = 0; l < n; l++) {
            if (l != j) {
              x[row++] = assigned[i] == j && assigned[k] == l ? 1 : 0;
            }
          }
        }
      }
    }
    assertThat(row).isEqualTo(a.rows());
    double[] constraints = a.multiplyTransposed(x);
    for (int c = 0; c < constraints.length; c++) {
      assertThat(constraints[c]).as("constraint %d", c).isEqualTo(c < 2 * n ? 1 : 0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cells2d7", "cells3d4", "grad3d3", "onehot400x20x7x3"})
  void gridsAndDesignsHaveFullRank(String spec) {
    CsrMatrix a = Gallery.generate(spec);
    assertThat(DenseRank.of(a)).isEqualTo(Math.min(a.rows(), a.columns()));
  }

  @Test
  void gradientOfAConstantIsZeroOnEdges() {
    CsrMatrix a = Gallery.generate("grad3d4");
    double[] ones = new double[64];
    java.util.Arrays.fill(ones, 3);
    double[] y = a.multiply(ones);
    assertThat(java.util.Arrays.copyOf(y, 144)).containsOnly(0.0);
    assertThat(java.util.Arrays.copyOfRange(y, 144, 208)).containsOnly(3.0);
  }

  @Test
  void randomSuffixKeepsThePattern() {
    CsrMatrix plain = Gallery.generate("nug5");
    CsrMatrix random = Gallery.generate("nug5:rand");
    assertThat(random.columnIndex()).isEqualTo(plain.columnIndex());
    assertThat(random.rowStart()).isEqualTo(plain.rowStart());
    int negative = 0;
    for (double v : random.values()) {
      assertThat(Math.abs(v)).isGreaterThanOrEqualTo(0.5).isLessThan(1.5);
      negative += v < 0 ? 1 : 0;
    }
    assertThat(negative).isBetween(random.nonzeros() * 2 / 5, random.nonzeros() * 3 / 5);
  }

  @Test
  void seedDecidesTheValues() {
    double[] first = Gallery.generate("cells2d5").values();
    assertThat(Gallery.generate("gen:cells2d5:seed=1").values()).isEqualTo(first);
    assertThat(Gallery.generate("cells2d5:seed=2").values()).isNotEqualTo(first);
    // A seed must always give the same matrix. The expected first value was written down once.
    assertThat(first[0]).isEqualTo(FIRST_VALUE);
  }

  private static final double FIRST_VALUE = -1.1524484863740323;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "gen:",
        "ch7-8",
        "ch7-8-b9",
        "ch0-8-b1",
        "nug",
        "nug1",
        "cells2d",
        "cells4d5",
        "grad2d5",
        "onehot100",
        "onehot100x",
        "onehot0x5",
        "onehotx",
        "nug5:random",
        "nug5:seed=x",
        "nug5:",
        "nug99999999999",
        "file.mtx"
      })
  void refusesWhatItDoesNotKnow(String spec) {
    assertThatThrownBy(() -> Gallery.generate(spec))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + spec + "'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cells3d2000", "nug1000", "ch40-40-b20", "grad3d1000", "cells2d90000"})
  void refusesWhatDoesNotFit(String spec) {
    assertThatThrownBy(() -> Gallery.generate(spec)).isInstanceOf(IndexOverflowException.class);
  }

  @Test
  void defaultRightHandSideIsRowSumsAndABoundedPerturbation() {
    CsrMatrix a = Gallery.generate("cells2d20");
    double[] ones = new double[a.columns()];
    java.util.Arrays.fill(ones, 1);
    double[] sums = a.multiply(ones);
    double[] b = DefaultRightHandSide.of(a);
    double total = 0;
    for (int i = 0; i < b.length; i++) {
      double norm = 0;
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        norm += a.values()[k] * a.values()[k];
      }
      double relative = (b[i] - sums[i]) / Math.sqrt(norm);
      assertThat(Math.abs(relative)).isLessThan(0.5001);
      total += relative;
    }
    assertThat(Math.abs(total / b.length)).isLessThan(0.05);
    assertThat(DefaultRightHandSide.of(a)).isEqualTo(b);
  }
}
