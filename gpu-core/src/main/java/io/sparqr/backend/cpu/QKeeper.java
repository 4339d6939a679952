/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.assembly.FrontLayout;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.StaircaseQr;
import io.sparqr.numeric.dense.TallQr;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects Q of one front during its factorization and builds a {@link FrontReflectors}. */
final class QKeeper {

  private final int front;
  private final int count;
  private final int[] own;
  private final FrontReflectors.ChildRows children;
  private final List<ReflectorBlock> blocks = new ArrayList<>();

  /** The front's row for each row of the matrix, unless it is the same row. */
  private int @Nullable [] number;

  /** Set by the factorization of the matrix. */
  private int[] pivot = {};

  private boolean[] negative = {};

  /** Takes the places of the front's sorted rows. */
  QKeeper(int front, FrontLayout layout) {
    this.front = front;
    count = layout.count();
    int[] place = layout.destination();
    own = Arrays.copyOf(place, layout.own());
    int[] child = new int[layout.children()];
    int[] start = new int[child.length + 1];
    for (int c = 0; c < child.length; c++) {
      child[c] = layout.child(c);
      start[c + 1] = layout.childRow(c + 1) - layout.own();
    }
    int[] row = Arrays.copyOfRange(place, layout.own(), count);
    children = new FrontReflectors.ChildRows(child, start, row);
  }

  /** Records that a reducer's triangle replaces the rows. */
  void reduced(TallQr tall) {
    blocks.addAll(tall.reflectors());
    number = tall.numbers();
  }

  /** Records the factorization of the matrix. */
  void factored(StaircaseQr qr, double[] matrix, int ld, int live, int[] stair, int[] rowPivot) {
    int[] segments =
        number == null ? ReflectorBlock.run(0, count) : ReflectorBlock.runs(number, number.length);
    blocks.add(qr.reflectors(matrix, ld, live, stair, rowPivot, segments));
    pivot = Arrays.copyOf(rowPivot, live);
    negative = new boolean[live];
    for (int i = 0; i < live; i++) {
      negative[i] = matrix[i + pivot[i] * ld] < 0;
    }
  }

  /** Q; the first {@code rank} of its {@code live} rows belong to R. */
  FrontReflectors reflectors(int rank, int live) {
    int[] result = new int[live];
    for (int i = 0; i < live; i++) {
      result[i] = number == null ? i : number[i];
    }
    return new FrontReflectors(
        front,
        count,
        own,
        children,
        Arrays.copyOf(pivot, rank),
        Arrays.copyOf(negative, rank),
        result,
        blocks);
  }
}
