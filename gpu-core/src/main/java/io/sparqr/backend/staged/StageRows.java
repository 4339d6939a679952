/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.threads.Parallel;
import java.nio.DoubleBuffer;
import java.util.Arrays;
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

  /** size fronts each. */
  private final double[][] dropped;

  private final long[] bitsOf;

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
    dropped = new double[fronts.length][];
    bitsOf = new long[fronts.length];
  }

  /** The sum of the mixed bits of all rows that came. */
  long bits() {
    return Arrays.stream(bitsOf).sum();
  }

  /** The same of some fronts, as they came. */
  long bits(boolean[] which) {
    long sum = 0;
    for (int f = 0; f < bitsOf.length; f++) {
      sum += which[f] ? bitsOf[f] : 0;
    }
    return sum;
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
   * @throws IntegrityFailure if a pivot is dead in a front that drops none
   */
  @Override
  public void accept(int f, DoubleBuffer from) {
    var taken = new Taken(f);
    taken.put(0, from);
    taken.end();
  }

  @Override
  public RoundExecutor.RowPieces begin(int f, int length) {
    return new Taken(f);
  }

  /** The rows of one front on their way into its arrays. */
  private final class Taken implements RoundExecutor.RowPieces {
    private final int f;
    private final FrontDescriptor d;

    /** In the order of the slice: values of R, of the block, right-hand sides of both. */
    private final double[][] arrays;

    private final boolean leaves;
    private final LongAdder bits = new LongAdder();
    private final LongAdder blockBits = new LongAdder();

    Taken(int f) {
      this.f = f;
      this.d = program.descriptor(f);
      int r = Math.min(d.fm(), d.fp());
      double[] values = ahead[f] == null ? new double[valuesOfR(d)] : ahead[f];
      ahead[f] = null;
      leaves = d.parent() < 0;
      int block = leaves ? (int) ContributionBlock.packedLength(d.cm(), d.cn()) : 0;
      arrays =
          new double[][] {
            values,
            new double[block],
            new double[r * d.rhs()],
            new double[leaves ? d.cm() * d.rhs() : 0]
          };
    }

    @Override
    public void put(int at, DoubleBuffer piece) {
      int end = at + piece.remaining();
      int start = 0;
      for (int k = 0; k < arrays.length; k++) {
        int from = Math.max(at, start);
        int to = Math.min(end, start + arrays[k].length);
        if (from < to) {
          long sum = copy(piece, piece.position() + from - at, arrays[k], from - start, to - start);
          (k % 2 == 0 ? bits : blockBits).add(sum);
        }
        start += arrays[k].length;
      }
    }

    @Override
    public void end() {
      int front = fronts[f];
      ContributionBlock block =
          leaves
              ? new ContributionBlock(front, d.cm(), d.cn(), arrays[1], arrays[3], d.rhs())
              : null;
      bitsOf[f] = bits.sum() + blockBits.sum();
      int[] live = live(f, Math.min(d.fm(), d.fp()), arrays[0]);
      FrontFactor factor;
      if (live.length < Math.min(d.fm(), d.fp())) {
        factor = withoutDead(f, live, arrays[0], arrays[2]);
      } else {
        factor = new FrontFactor(front, d.fn(), live, arrays[0], arrays[2], d.rhs(), bits.sum());
      }
      done.put(factor, block, blockBits.sum());
    }
  }

  /** The rows whose pivot lives; of a dead column's, what was dropped is noted. */
  private FrontFactor withoutDead(int f, int[] live, double[] values, double[] rhs) {
    FrontDescriptor d = program.descriptor(f);
    int rows = Math.min(d.fm(), d.fp());
    int[] from = new int[live.length];
    int[] to = new int[live.length + 1];
    double[] right = new double[live.length * d.rhs()];
    dropped[f] = new double[rows];
    int row = 0;
    int at = 0;
    for (int k = 0; k < rows; k++) {
      if (row < live.length && live[row] == k) {
        from[row] = at;
        to[row + 1] = to[row] + d.fn() - k;
        System.arraycopy(rhs, k * d.rhs(), right, row * d.rhs(), d.rhs());
        row++;
      } else {
        dropped[f][k] = values[at];
      }
      at += d.fn() - k;
    }
    double[] kept = new double[to[live.length]];
    var sum = new LongAdder();
    sum.add(BitChecksum.sum(right));
    Parallel.loop(
        live.length,
        Math.max(1, LARGE / 4 / d.fn()),
        kept.length < LARGE ? 1 : Math.min(8, threads),
        (lo, hi, t) -> {
          for (int i = lo; i < hi; i++) {
            System.arraycopy(values, from[i], kept, to[i], to[i + 1] - to[i]);
            sum.add(BitChecksum.sum(kept, to[i], to[i + 1]));
          }
        });
    return new FrontFactor(fronts[f], d.fn(), live, kept, right, d.rhs(), sum.sum());
  }

  /** What a front's DROP tasks have dropped, by pivot column, 0 for a live one; null: nothing. */
  double[] dropped(int f) {
    return dropped[f];
  }

  /** Rows whose pivot lives; the others have what was dropped in its place. */
  private int[] live(int f, int rows, double[] values) {
    FrontDescriptor d = program.descriptor(f);
    int[] live = new int[rows];
    int count = 0;
    int at = 0;
    for (int i = 0; i < rows; i++) {
      double pivot = values[at];
      // Half: the executor's own test is of the very same pivots, but that is no reason to fail.
      if (tolerance < 0 || pivot > tolerance / 2) {
        live[count++] = i;
      } else if (d.drop() == 0 || !(pivot <= tolerance / TaskLayout.MARGIN)) {
        throw new IntegrityFailure(
            "front %d has the pivot %.2e in row %d and was called sound"
                .formatted(fronts[f], pivot, i));
      }
      at += d.fn() - i;
    }
    return Arrays.copyOf(live, count);
  }

  /** Values of the pivot rows of a front of full rank. */
  private static int valuesOfR(FrontDescriptor d) {
    long r = Math.min(d.fm(), d.fp());
    return (int) (r * d.fn() - r * (r - 1) / 2);
  }

  /** Values start, start + 1, ... of a buffer to [begin, end); the sum of their mixed bits. */
  private long copy(DoubleBuffer from, int start, double[] to, int begin, int end) {
    if (end - begin < LARGE) {
      return copied(from, start, to, begin, end);
    }
    var sum = new LongAdder();
    Parallel.loop(
        end - begin,
        LARGE / 4,
        Math.min(8, threads),
        (lo, hi, t) -> sum.add(copied(from, start + lo, to, begin + lo, begin + hi)));
    return sum.sum();
  }

  private static long copied(DoubleBuffer from, int start, double[] to, int begin, int end) {
    long bits = 0;
    int at = begin;
    while (at < end) {
      int count = Math.min(PIECE, end - at);
      from.get(start + at - begin, to, at, count);
      bits += BitChecksum.sum(to, at, at + count);
      at += count;
    }
    return bits;
  }
}
