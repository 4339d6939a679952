/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PiecesByStripTest {

  /** Columns of the pieces, of which every second one is a column of the front. */
  private static final int COLUMNS = 300;

  private static RowPieces random(Random random, int count) {
    int[][] columns = new int[count][];
    Arrays.setAll(
        columns,
        p ->
            random
                .ints(0, COLUMNS / 2)
                .map(j -> 2 * j)
                .distinct()
                .limit(random.nextInt(6))
                .sorted()
                .toArray());
    return new RowPieces() {
      @Override
      public int count() {
        return count;
      }

      @Override
      public void piece(int p, RowPiece view) {
        view.size(1, columns[p].length).columnsAt(columns[p], 0);
      }
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 9, 40})
  void eachStripSeesThePiecesWithItsColumnsInOrder(int strips) {
    for (int seed = 0; seed < 50; seed++) {
      RowPieces pieces = random(new Random(seed), seed * seed);
      int[] place = IntStream.range(0, COLUMNS).map(j -> j / 2).toArray();
      int[] stripOf = IntStream.range(0, COLUMNS / 2).map(j -> j * strips * 2 / COLUMNS).toArray();
      var lists = new PiecesByStrip(pieces, place, stripOf, strips);
      for (int s = 0; s < strips; s++) {
        int strip = s;
        var piece = new RowPiece();
        int[] expected =
            IntStream.range(0, pieces.count())
                .filter(
                    p -> {
                      pieces.piece(p, piece);
                      return Arrays.stream(piece.column, 0, piece.columns)
                          .anyMatch(j -> stripOf[place[j]] == strip);
                    })
                .toArray();
        int[] seen = IntStream.range(0, lists.count(s)).map(k -> lists.piece(strip, k)).toArray();
        if (strips > 8) {
          assertThat(seen).as("seed %d, strip %d", seed, s).isEqualTo(expected);
        } else {
          assertThat(seen)
              .as("seed %d", seed)
              .isEqualTo(IntStream.range(0, pieces.count()).toArray());
        }
      }
    }
  }
}
