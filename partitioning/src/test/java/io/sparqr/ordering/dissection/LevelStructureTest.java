/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.RandomPatterns;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Separators by hand, and the kinds of graphs that the choice of the order depends on. */
class LevelStructureTest {

  private static SparsityPattern graph(int n, int[]... rows) {
    return RandomPatterns.of(n, List.of(rows));
  }

  private static SparsityPattern of(String specification) {
    return RandomPatterns.of(specification);
  }

  @Test
  void aPathIsSeparatedByOneVertex() {
    List<int[]> edges = new ArrayList<>();
    for (int i = 0; i + 1 < 50; i++) {
      edges.add(new int[] {i, i + 1});
    }
    assertThat(LevelStructure.separator(graph(50, edges.toArray(int[][]::new)))).isEqualTo(1);
  }

  @Test
  void aLadderIsSeparatedByARung() {
    // 2 x 20 vertices; seen from a corner, a level holds one vertex of each side
    List<int[]> edges = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      edges.add(new int[] {2 * i, 2 * i + 1});
      if (i > 0) {
        edges.add(new int[] {2 * i - 2, 2 * i});
        edges.add(new int[] {2 * i - 1, 2 * i + 1});
      }
    }
    assertThat(LevelStructure.separator(graph(40, edges.toArray(int[][]::new)))).isEqualTo(2);
  }

  @Test
  void whatHasNoMiddleHasNoSeparator() {
    assertThat(LevelStructure.separator(graph(5, new int[] {0, 1, 2, 3, 4}))).isEqualTo(5);
    assertThat(LevelStructure.separator(graph(0))).isZero();
    // three parts of a third each
    assertThat(
            LevelStructure.separator(
                graph(6, new int[] {0, 1}, new int[] {2, 3}, new int[] {4, 5})))
        .isEqualTo(6);
    assertThat(LevelStructure.solid(graph(6, new int[] {0, 1}))).isFalse();
  }

  @Test
  void onlyMeshesInThreeDimensionsAreSolids() {
    // a slice of k^3 cells has at least k^2 vertices
    assertThat(LevelStructure.separator(of("gen:cells3d20"))).isBetween(400, 800);
    assertThat(LevelStructure.solid(of("gen:cells3d27"))).isTrue();
    assertThat(LevelStructure.solid(of("gen:grad3d26"))).isTrue();
    assertThat(LevelStructure.solid(of("gen:cells2d150"))).isFalse();
    assertThat(LevelStructure.solid(of("gen:nug12"))).isFalse();
    assertThat(LevelStructure.solid(of("gen:onehot20000x500x100x20"))).isFalse();
  }
}
