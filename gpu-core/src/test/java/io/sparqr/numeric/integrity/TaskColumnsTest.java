/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TaskColumnsTest {

  /** The mapping between numbers and positions, one by one and many at a time. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void someFronts(long seed) {
    var random = new Random(seed);
    var grid = Gallery.generate("gen:cells2d" + (10 + random.nextInt(60)));
    double[] b = TestMatrices.vector(grid.rows(), random);
    SymbolicAnalysis a = IntegrityCases.of("", grid, b, 1, random).problem().analysis();
    // All fronts, a run of them, or with gaps.
    int from = seed == 1 ? 0 : random.nextInt(a.fronts());
    int gaps = seed == 1 ? 1 : 1 + (int) seed % 3;
    int[] fronts =
        IntStream.range(from, a.fronts()).filter(f -> random.nextInt(gaps) == 0).toArray();
    var columns = new TaskColumns(a, fronts);
    var expected = new TreeSet<Integer>();
    int[] number = new int[a.columns()];
    for (int f : fronts) {
      columns.numbers(f, number, 3);
      for (int k = 0; k < a.fn(f); k++) {
        int p = a.column(f, k);
        expected.add(p);
        assertThat(number[3 + k]).as("seed %d", seed).isEqualTo(columns.number(p));
        assertThat(columns.position(number[3 + k])).as("seed %d", seed).isEqualTo(p);
      }
    }
    int n = columns.count();
    assertThat(n).as("seed %d", seed).isEqualTo(expected.size());
    for (int first = 0; first <= n; first += 1 + random.nextInt(n)) {
      int end = first + random.nextInt(n - first + 1);
      int[] position = new int[end - first];
      columns.positions(first, end, position);
      for (int j = first; j < end; j++) {
        assertThat(position[j - first]).as("seed %d", seed).isEqualTo(columns.position(j));
      }
    }
    var without = new BitSet();
    without.set(n / 2);
    ColumnProbe probe =
        new RowsIn(columns, RowBlock.empty(1), null, List.of(), 2).unitProbe(without);
    for (int j = 0; j < n; j++) {
      double s = 0.5 * ColumnProbe.hash(columns.position(j));
      assertThat(probe.scale()[j]).as("seed %d", seed).isEqualTo(s);
      assertThat(probe.u()[j]).as("seed %d", seed).isEqualTo(j == n / 2 ? 0 : s);
    }
    assertThat(probe.plain()).isTrue();
  }
}
