/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import java.util.Arrays;
import java.util.List;

/**
 * Checksums of the values that a task was given, each taken when the values were used first: the
 * blocks when the task begins, a front's rows when they are read. A task that is done again from
 * values that changed in between would be right for other rows; nothing else could tell. What
 * changes before its first use is the input. Different fronts may come from several threads.
 */
public final class GivenValues {

  private final SubtreeProblem problem;

  /** By place of the front in the task's list: the sum over its rows, and whether it is known. */
  private final long[] rows;

  private final boolean[] known;
  private final long[] block;

  /** Nothing is known but the blocks. O(values of the blocks). */
  public GivenValues(SubtreeProblem problem) {
    this.problem = problem;
    rows = new long[problem.fronts().length];
    known = new boolean[rows.length];
    block = problem.inputs().stream().mapToLong(BitChecksum::of).toArray();
  }

  /** Of all rows and blocks, now. O(values). */
  public static GivenValues of(SubtreeProblem problem) {
    var all = new GivenValues(problem);
    all.sumRows(all.rows);
    Arrays.fill(all.known, true);
    return all;
  }

  /** Whether it is this problem's, the very same object. */
  public boolean isOf(SubtreeProblem p) {
    return p == problem;
  }

  /**
   * A front's rows are used.
   *
   * @param place of the front in the task's list
   * @param sum of the {@link BitChecksum#mixed} bits of their values and right-hand sides
   * @throws NumericalIntegrityException if they were others before
   */
  public void use(int place, long sum) {
    if (known[place] && rows[place] != sum) {
      throw changed(problem.fronts()[place]);
    }
    rows[place] = sum;
    known[place] = true;
  }

  /**
   * The rows of some fronts are used, all of each front's together.
   *
   * @throws NumericalIntegrityException if they were others before
   */
  public void use(RowBlock some) {
    int rhs = some.rhsCount();
    int i = 0;
    while (i < some.rows()) {
      int front = some.front()[i];
      long sum = 0;
      for (; i < some.rows() && some.front()[i] == front; i++) {
        sum += sum(some, i, rhs);
      }
      use(Arrays.binarySearch(problem.fronts(), front), sum);
    }
  }

  private static long sum(RowBlock r, int i, int rhs) {
    return BitChecksum.sum(r.value(), r.rowStart()[i], r.rowStart()[i + 1])
        + BitChecksum.sum(r.rhs(), i * rhs, (i + 1) * rhs);
  }

  /**
   * Checks all that was used so far. O(values).
   *
   * @throws NumericalIntegrityException if a bit of it is another
   */
  public void verify() {
    verifyBlocks();
    long[] now = new long[rows.length];
    sumRows(now);
    for (int t = 0; t < now.length; t++) {
      if (known[t] && now[t] != rows[t]) {
        throw changed(problem.fronts()[t]);
      }
    }
  }

  /**
   * Checks the blocks. O(values).
   *
   * @throws NumericalIntegrityException if a bit of one is another
   */
  public void verifyBlocks() {
    List<ContributionBlock> in = problem.inputs();
    for (int b = 0; b < block.length; b++) {
      if (BitChecksum.of(in.get(b)) != block[b]) {
        throw changed(in.get(b).front());
      }
    }
  }

  private void sumRows(long[] sums) {
    RowBlock r = problem.rows();
    int rhs = r.rhsCount();
    int place = 0;
    for (int i = 0; i < r.rows(); i++) {
      if (problem.fronts()[place] != r.front()[i]) {
        place = Arrays.binarySearch(problem.fronts(), r.front()[i]);
      }
      sums[place] += sum(r, i, rhs);
    }
  }

  private static NumericalIntegrityException changed(int front) {
    return NumericalIntegrityException.changedInMemory(front);
  }
}
