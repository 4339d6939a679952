/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.threads.Parallel;
import java.nio.DoubleBuffer;
import java.util.concurrent.atomic.LongAdder;

/** Takes the rows of a stage's fronts as they come; the arrays of large ones are made ahead. */
final class StageRows implements RoundExecutor.RowSink {

  /** Doubles from which on an array is worth several threads. */
  private static final int LARGE = 1 << 20;

  /** Values that are copied, then summed up, at a time: they are in the caches still. */
  private static final int PIECE = 1 << 12;

  private final StageProgram program;
  private final int[] fronts;
  final FactoredFronts done;
  private final double tolerance;
  private final int threads;
  private final Runnable meanwhile;
  private final double[][] ahead;
  private final LongAdder allBits = new LongAdder();

  /**
   * A sink.
   *
   * @param fronts of the stage
   * @param done takes what is complete
   * @param tolerance of the pivot test; negative: none
   * @param meanwhile what the caller's thread can do while the executor works
   */
  StageRows(
      StageProgram program,
      int[] fronts,
      FactoredFronts done,
      double tolerance,
      int threads,
      Runnable meanwhile) {
    this.meanwhile = meanwhile;
    this.program = program;
    this.fronts = fronts;
    this.done = done;
    this.tolerance = tolerance;
    this.threads = threads;
    ahead = new double[fronts.length][];
  }

  /** The sum of the mixed bits of all rows that came. */
  long bits() {
    return allBits.sum();
  }

  @Override
  public void expect(int f) {
    if (program.outLength(f) >= LARGE) {
      ahead[f] = new double[valuesOfR(program.descriptor(f))];
    }
  }

  @Override
  public void underWay() {
    meanwhile.run();
  }

  /**
   * Values of R, the block's values if it leaves the stage, right-hand sides of both.
   *
   * @throws IntegrityFailure if the executor calls the front sound and a pivot is dead
   */
  @Override
  public void accept(int f, DoubleBuffer from) {
    FrontDescriptor d = program.descriptor(f);
    int front = fronts[f];
    int r = Math.min(d.fm(), d.fp());
    int[] live = new int[r];
    for (int k = 0; k < r; k++) {
      live[k] = k;
    }
    double[] values = ahead[f] == null ? new double[valuesOfR(d)] : ahead[f];
    ahead[f] = null;
    double[] right = new double[r * d.rhs()];
    long bits = copy(from, values);
    requireLive(front, d.fn(), r, values);
    ContributionBlock block = null;
    long blockBits = 0;
    if (d.parent() < 0) {
      double[] cValues = new double[(int) ContributionBlock.packedLength(d.cm(), d.cn())];
      double[] cRight = new double[d.cm() * d.rhs()];
      blockBits = copy(from, cValues);
      bits += copy(from, right);
      blockBits += copy(from, cRight);
      block = new ContributionBlock(front, d.cm(), d.cn(), cValues, cRight, d.rhs());
    } else {
      bits += copy(from, right);
    }
    allBits.add(bits + blockBits);
    done.put(new FrontFactor(front, d.fn(), live, values, right, d.rhs(), bits), block, blockBits);
  }

  /** Half: the executor's own test is of the very same pivots, but that is no reason to fail. */
  private void requireLive(int front, int fn, int rows, double[] values) {
    int at = 0;
    for (int i = 0; i < rows && tolerance >= 0; i++) {
      if (!(values[at] > tolerance / 2)) {
        throw new IntegrityFailure(
            "front %d has the pivot %.2e in row %d and was called sound"
                .formatted(front, values[at], i));
      }
      at += fn - i;
    }
  }

  /** Values of the pivot rows of a front of full rank. */
  private static int valuesOfR(FrontDescriptor d) {
    long r = Math.min(d.fm(), d.fp());
    return (int) (r * d.fn() - r * (r - 1) / 2);
  }

  /** Relative get of a whole array, a large one by several threads; the sum of its mixed bits. */
  private long copy(DoubleBuffer from, double[] to) {
    int start = from.position();
    from.position(start + to.length);
    if (to.length < LARGE) {
      return copy(from, start, to, 0, to.length);
    }
    var bits = new LongAdder();
    Parallel.loop(
        to.length,
        LARGE / 4,
        Math.min(8, threads),
        (lo, hi, t) -> bits.add(copy(from, start, to, lo, hi)));
    return bits.sum();
  }

  private static long copy(DoubleBuffer from, int start, double[] to, int begin, int end) {
    long bits = 0;
    int at = begin;
    while (at < end) {
      int count = Math.min(PIECE, end - at);
      from.get(start + at, to, at, count);
      bits += BitChecksum.sum(to, at, at + count);
      at += count;
    }
    return bits;
  }
}
