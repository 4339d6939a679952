/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Helpers change nothing in the order of elimination, to the last place. */
class ElementScanTest {

  /** Every element is shared, those of a single variable, too. */
  private static final ElementScan.Sharing ALL = new ElementScan.Sharing(2, 1, 1);

  @Test
  void randomPatterns() {
    for (int seed = 1; seed <= 100; seed++) {
      assertSame(RandomPatterns.anything(seed), ALL, "seed " + seed);
    }
    for (SparsityPattern a : RandomPatterns.structuredAndRandom()) {
      assertSame(a, ALL, "structured");
    }
  }

  /** Elements of hundreds of variables, which are absorbed, and grow. */
  @Test
  void largeElements() {
    List<SparsityPattern> problems =
        List.of(
            RandomPatterns.of("gen:nug8"),
            RandomPatterns.of("gen:nug12"),
            RandomPatterns.of("gen:ch6-7-b3"),
            RandomPatterns.of("gen:grad3d14"),
            RandomPatterns.uniform(3000, 2000, 3, 1),
            RandomPatterns.uniform(700, 2000, 12, 2));
    for (int k = 0; k < problems.size(); k++) {
      for (int helpers = 1; helpers <= 3; helpers++) {
        String name = "problem " + k + ", helpers " + helpers;
        assertSame(problems.get(k), new ElementScan.Sharing(helpers, 64, 64), name);
        assertSame(problems.get(k), new ElementScan.Sharing(helpers, 64, 300), name);
      }
    }
  }

  private static void assertSame(SparsityPattern a, ElementScan.Sharing sharing, String name) {
    var alone = ApproximateMinimumDegree.counted(a, ElementScan.Sharing.NONE);
    var shared = ApproximateMinimumDegree.counted(a, sharing);
    assertThat(shared.order().toArray()).as(name).isEqualTo(alone.order().toArray());
    RowCliques rows = RowCliques.of(a);
    assertThat(rows.order(0, true, sharing).toArray())
        .as("rows as elements, %s", name)
        .isEqualTo(rows.order(0, true).toArray());
  }

  /** One large element, in whose middle the elimination fails. */
  @Test
  void noHelperIsLeftByAnEliminationThatFails() {
    int n = 3000;
    int[] lists = new int[2 * n + 4 * n];
    int[] start = new int[2 * n];
    int[] length = new int[2 * n];
    int[] elements = new int[n];
    int[] weight = new int[n];
    Arrays.fill(weight, 1);
    // a star: variable 0 is the neighbour of all others
    int out = 0;
    for (int i = 1; i < n; i++) {
      start[i] = out;
      lists[out++] = 0;
      length[i] = 1;
    }
    start[0] = out;
    for (int i = 1; i < n; i++) {
      lists[out++] = i;
    }
    length[0] = n - 1;
    var graph = new QuotientGraph(n, lists, out, start, length, elements, weight, false, ALL);
    assertThatThrownBy(() -> graph.eliminate(new int[n / 2]))
        .isInstanceOf(ArrayIndexOutOfBoundsException.class);
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(t -> t.getName().startsWith("minimum-degree-helper"));
  }
}
