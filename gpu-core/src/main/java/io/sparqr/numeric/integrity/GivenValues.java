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
 * Checksums of a task's input values, each computed on the first use of the values: the blocks when
 * the task begins, a front's rows when they are read. If values changed before a repetition, the
 * repeated task would be correct for the wrong rows, and no other check would find that. Values
 * changed before their first use simply are the input. Different fronts may be added by several
 * threads.
 */
public final class GivenValues {

  private final SubtreeProblem problem;
  private final int threads;

  /**
   * By place of the front in the task's list: the checksum of its rows, and whether it is known.
   */
  private final long[] rows;

  private final boolean[] known;
  private final long[] block;

  /**
   * Starts with the checksums of the blocks alone. O(values of the blocks).
   *
   * @param threads for the checksums of blocks
   */
  public GivenValues(SubtreeProblem problem, int threads) {
    this.problem = problem;
    this.threads = threads;
    rows = new long[problem.fronts().length];
    known = new boolean[rows.length];
    block = problem.inputs().stream().mapToLong(b -> BitChecksum.of(b, threads)).toArray();
  }

  /** The checksums of all rows and blocks, now. O(values). */
  public static GivenValues of(SubtreeProblem problem, int threads) {
    var all = new GivenValues(problem, threads);
    all.sumRows(all.rows);
    Arrays.fill(all.known, true);
    return all;
  }

  /** Whether these are the checksums of this very problem object. */
  @SuppressWarnings("ReferenceEquality")
  public boolean isOf(SubtreeProblem p) {
    return p == problem;
  }

  /**
   * Records the use of a front's rows.
   *
   * @param place of the front in the task's list
   * @param sum of the {@link BitChecksum#mixed} bits of their values and right-hand sides
   * @throws NumericalIntegrityException if they differ from the first use
   */
  public void use(int place, long sum) {
    if (known[place] && rows[place] != sum) {
      throw changed(problem.fronts()[place]);
    }
    rows[place] = sum;
    known[place] = true;
  }

  /**
   * Records the use of the rows of some fronts, with all rows of a front together.
   *
   * @throws NumericalIntegrityException if they differ from the first use
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
   * Checks all values used so far. O(values).
   *
   * @throws NumericalIntegrityException if a bit has changed
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
   * @throws NumericalIntegrityException if a bit has changed
   */
  public void verifyBlocks() {
    List<ContributionBlock> in = problem.inputs();
    for (int b = 0; b < block.length; b++) {
      if (BitChecksum.of(in.get(b), threads) != block[b]) {
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
