/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.numeric.dense.ReflectorBlock;
import java.util.List;

/**
 * Q of one front from any backend: the places of the input rows in the front, the reflectors in
 * order of application (Q' = H_last ... H_1), and the places of the rows of R and of the
 * contribution block afterwards. It turns any further right-hand side b of the task's rows into Q'b
 * ({@link TaskReflection}). As SuiteSparseQR does, V and tau are kept, but not T (Davis 2011,
 * section 3).
 *
 * @param front front number
 * @param rows rows of the front
 * @param own row of the front's k-th row of A, ridge or combined row, in the task's order of rows
 * @param children rows of the children's contribution blocks
 * @param livePivot size rank: local column of the pivot of each row of R
 * @param negative size rank: whether the row was negated for a positive diagonal
 * @param result size rank + cm: places of the rows of R, then of those of the contribution block;
 *     the other rows belong to the residual
 * @param blocks reflectors in order
 */
public record FrontReflectors(
    int front,
    int rows,
    int[] own,
    ChildRows children,
    int[] livePivot,
    boolean[] negative,
    int[] result,
    List<ReflectorBlock> blocks) {

  /**
   * The places of the children's rows in their parent's front.
   *
   * @param child children with contribution rows, ascending
   * @param start size child.length + 1; offsets in {@code row}
   * @param row row of each row of the children's contribution blocks
   */
  public record ChildRows(int[] child, int[] start, int[] row) {

    private boolean inside(int rows) {
      return start.length == child.length + 1
          && start[child.length] == row.length
          && FrontReflectors.inside(row, rows);
    }
  }

  /** Checks sizes in O(rows). */
  public FrontReflectors {
    blocks = List.copyOf(blocks);
    boolean right =
        children.inside(rows)
            && negative.length == livePivot.length
            && result.length >= livePivot.length
            && result.length <= rows
            && own.length + children.row.length <= rows
            && inside(own, rows)
            && inside(result, rows);
    if (!right) {
      throw new IllegalArgumentException("reflectors of front " + front + ": inconsistent sizes");
    }
  }

  private static boolean inside(int[] row, int rows) {
    for (int i : row) {
      if (i < 0 || i >= rows) {
        return false;
      }
    }
    return true;
  }

  /** The rank of the front, which is its number of rows of R. */
  public int rank() {
    return livePivot.length;
  }

  /** Rows of the contribution block. */
  public int cm() {
    return result.length - livePivot.length;
  }

  /** The number of entries of V that are kept. */
  public long values() {
    long sum = 0;
    for (ReflectorBlock b : blocks) {
      sum += b.v().length;
    }
    return sum;
  }

  /** A copy without the blocks: all that is needed before they are applied. */
  public FrontReflectors withoutBlocks() {
    return new FrontReflectors(front, rows, own, children, livePivot, negative, result, List.of());
  }
}
