/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The 23 x 12 matrix of figures 1 to 4 in Yeralan, Davis and Ranka, "Sparse QR factorization on the
 * GPU": its column elimination tree, its five fronts and their assembly.
 */
class PublishedExampleTest {

  /** Parents of columns 1 to 12 in figure 2, 0 for the root. */
  private static final int[] FIGURE_2 = {2, 6, 6, 5, 6, 7, 8, 9, 10, 11, 12, 0};

  private static SparsityPattern matrix() {
    List<int[]> rows = new ArrayList<>();
    for (int[] row : PublishedMatrix.rows()) {
      rows.add(Arrays.stream(row).map(j -> j - 1).toArray());
    }
    return Patterns.of(12, rows);
  }

  @Test
  void columnEliminationTreeIsFigure2() {
    StarGraph graph = new StarGraph(matrix(), Permutation.identity(12));
    ColumnEliminationTree tree = new ColumnEliminationTree(graph);
    int[] parent = new int[12];
    for (int j = 0; j < 12; j++) {
      int up = tree.parent[tree.post[j]];
      parent[j] = up < 0 ? 0 : tree.label[up] + 1;
    }
    assertThat(parent).containsExactly(FIGURE_2);
  }

  @Test
  void frontsAreThoseOfFigures2To4() {
    // Rows of equal pattern together, no explicit zeros: width 0 to 1 merges nothing else.
    SymbolicOptions options =
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withSingletons(false)
            .withAmalgamation(new Amalgamation(1, 0, 0, 0, 0, 0));
    SymbolicAnalysis s = SymbolicAnalyzer.analyze(matrix(), options);
    assertThat(s.fronts()).isEqualTo(5);

    int leaf = frontOf(s, 1);
    assertThat(columns(s, leaf)).containsExactly(1, 2, 6, 8, 11);
    assertThat(s.fp(leaf)).isEqualTo(2);
    assertThat(s.fm(leaf)).isEqualTo(6);
    assertThat(s.cm(leaf)).isEqualTo(3);
    assertThat(Staircase.of(s, leaf)).containsExactly(3, 6, 6, 6, 6);

    int second = frontOf(s, 3);
    assertThat(columns(s, second)).containsExactly(3, 6, 7, 8, 12);
    assertThat(s.cm(second)).isEqualTo(4);
    int third = frontOf(s, 4);
    assertThat(columns(s, third)).containsExactly(4, 5, 7, 9, 11);
    assertThat(s.cm(third)).isEqualTo(3);

    int fourth = frontOf(s, 5);
    assertThat(columns(s, fourth)).containsExactly(5, 6, 7, 8, 9, 11, 12);
    assertThat(s.fp(fourth)).isEqualTo(3);
    assertThat(s.fm(fourth)).isEqualTo(17);
    assertThat(s.cm(fourth)).isEqualTo(4);
    assertThat(List.of(s.parent(leaf), s.parent(second), s.parent(third))).containsOnly(fourth);
    // Figure 4, left to right: rows 16 17 18 13 | 19 20 3 8 | 21 22 9 14 | 4 10 | 15 | 5 | 11.
    assertThat(Staircase.of(s, fourth)).containsExactly(4, 8, 12, 14, 15, 16, 17);

    int root = frontOf(s, 12);
    assertThat(columns(s, root)).containsExactly(8, 9, 10, 11, 12);
    assertThat(s.parent(fourth)).isEqualTo(root);
    assertThat(s.parent(root)).isEqualTo(-1);
    assertThat(s.fm(root)).isEqualTo(5);
  }

  private static int frontOf(SymbolicAnalysis s, int column) {
    return s.frontOfPosition(s.permutation().position(column - 1));
  }

  /** Columns of a front as printed in the paper. */
  private static List<Integer> columns(SymbolicAnalysis s, int f) {
    List<Integer> list = new ArrayList<>();
    for (int k = 0; k < s.fn(f); k++) {
      list.add(s.permutation().original(s.column(f, k)) + 1);
    }
    list.sort(null);
    return list;
  }
}
