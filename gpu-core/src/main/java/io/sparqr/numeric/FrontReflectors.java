/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.numeric.dense.ReflectorBlock;
import java.util.List;

/**
 * Q of one front, whatever backend made it: where the rows that come into the front are put, the
 * reflectors in the order in which they are applied (Q' = H_last ... H_1), and where the rows of R
 * and of the contribution block are afterwards. Kept, it turns any further right-hand side b of the
 * task's rows into Q'b ({@link TaskReflection}). As SuiteSparseQR does, V and tau are kept and no T
 * (Davis 2011, section 3).
 *
 * @param front front number
 * @param rows rows of the front
 * @param own row of the front's k-th row of A, ridge or combined row, in the task's order of rows
 * @param child children that pass rows, ascending
 * @param childStart size child.length + 1; offsets in childRow
 * @param childRow row of each row of the children's contribution blocks
 * @param livePivot size rank: local column of the pivot of each row of R
 * @param negative size rank: whether the row was negated for a positive diagonal
 * @param result size rank + cm: where the rows of R, then those of the contribution block are; the
 *     other rows are the residual's
 * @param blocks reflectors in order
 */
public record FrontReflectors(
    int front,
    int rows,
    int[] own,
    int[] child,
    int[] childStart,
    int[] childRow,
    int[] livePivot,
    boolean[] negative,
    int[] result,
    List<ReflectorBlock> blocks) {

  /** Checks sizes in O(rows). */
  public FrontReflectors {
    blocks = List.copyOf(blocks);
    boolean right =
        childStart.length == child.length + 1
            && childStart[child.length] == childRow.length
            && negative.length == livePivot.length
            && result.length >= livePivot.length
            && result.length <= rows
            && own.length + childRow.length <= rows
            && inside(own, rows)
            && inside(childRow, rows)
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

  /** Rows of R. */
  public int rank() {
    return livePivot.length;
  }

  /** Rows of the contribution block. */
  public int cm() {
    return result.length - livePivot.length;
  }

  /** Values of V that are kept. */
  public long values() {
    long sum = 0;
    for (ReflectorBlock b : blocks) {
      sum += b.v().length;
    }
    return sum;
  }

  /** The same without the blocks: what has to be known before they are applied. */
  public FrontReflectors withoutBlocks() {
    return new FrontReflectors(
        front, rows, own, child, childStart, childRow, livePivot, negative, result, List.of());
  }
}
