/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.threads.Later;
import io.sparqr.threads.Parallel;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Receives the rows of a stage's fronts as they arrive; the arrays of large fronts are allocated
 * ahead.
 */
final class StageRows implements RoundExecutor.RowSink {

  private static final int LARGE = RowRooms.LARGE;

  private final StageProgram program;
  private final int[] fronts;
  final FactoredFronts done;
  private final double tolerance;
  private final int threads;
  private final Runnable meanwhile;
  private final boolean later;
  private final RowRooms rooms;

  /** Blocks that leave the stage, by front; of large ones, made while the device works. */
  private final @Nullable Later<double[]>[] blocks;

  /** size fronts each. */
  private final double[][] dropped;

  private final long[] bitsOf;

  /** The part of the blocks in it. */
  private final LongAdder bitsOfBlocks = new LongAdder();

  /**
   * A sink.
   *
   * @param fronts of the stage
   * @param done receives the complete fronts
   * @param tolerance of the pivot test; negative: none
   * @param rooms where rows of R are put
   * @param later whether the rows are delivered on request only
   * @param meanwhile work for the caller's thread while the executor works
   */
  StageRows(
      StageProgram program,
      int[] fronts,
      FactoredFronts done,
      double tolerance,
      int threads,
      RowRooms rooms,
      boolean later,
      Runnable meanwhile) {
    this.rooms = rooms;
    this.later = later;
    this.meanwhile = meanwhile;
    this.program = program;
    this.fronts = fronts;
    this.done = done;
    this.tolerance = tolerance;
    this.threads = threads;
    blocks = blocks(program);
    dropped = new double[fronts.length][];
    bitsOf = new long[fronts.length];
  }

  /** The sum of the mixed bits of all rows received. */
  long bits() {
    return Arrays.stream(bitsOf).sum();
  }

  /** The part of the blocks in it. */
  long blockBits() {
    return bitsOfBlocks.sum();
  }

  /** The sum of the mixed bits of the rows of some fronts. */
  long bits(boolean[] which) {
    long sum = 0;
    for (int f = 0; f < bitsOf.length; f++) {
      sum += which[f] ? bitsOf[f] : 0;
    }
    return sum;
  }

  @Override
  public boolean later() {
    return later;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static @Nullable Later<double[]>[] blocks(StageProgram program) {
    @Nullable Later<double[]>[] blocks = new Later[program.fronts()];
    for (int f = 0; f < blocks.length; f++) {
      int doubles = valuesOfBlock(program.descriptor(f));
      blocks[f] = doubles < LARGE ? null : new Later<>(() -> new double[doubles]);
    }
    return blocks;
  }

  @Override
  public void underWay() {
    if (!later) {
      rooms.begin(program, fronts);
      for (Later<double[]> block : blocks) {
        if (block != null) {
          block.begin();
        }
      }
    }
    meanwhile.run();
  }

  /**
   * Takes values of R, the block's values if it leaves the stage, right-hand sides of both.
   *
   * @throws IntegrityFailure if a pivot is dead in a front without DROP tasks
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

  /** Copies the rows of one front into its arrays. */
  private final class Taken implements RoundExecutor.RowPieces {
    private final int f;
    private final FrontDescriptor d;

    /** In the order of the slice: values of R, of the block, right-hand sides of both. */
    private final DoubleBuffer[] parts;

    private final double[] blockValues;
    private final double[] rhs;
    private final double[] blockRhs;

    private final boolean leaves;
    private final LongAdder bits = new LongAdder();
    private final LongAdder blockBits = new LongAdder();

    Taken(int f) {
      this.f = f;
      this.d = program.descriptor(f);
      int r = Math.min(d.fm(), d.fp());
      DoubleBuffer values = rooms.take(fronts[f], RowRooms.valuesOfR(d));
      leaves = d.parent() < 0;
      Later<double[]> block = blocks[f];
      blocks[f] = null;
      blockValues = block == null ? new double[valuesOfBlock(d)] : block.get();
      rhs = new double[r * d.rhs()];
      blockRhs = new double[leaves ? d.cm() * d.rhs() : 0];
      parts =
          new DoubleBuffer[] {
            values,
            DoubleBuffer.wrap(blockValues),
            DoubleBuffer.wrap(rhs),
            DoubleBuffer.wrap(blockRhs)
          };
    }

    @Override
    public void put(int at, DoubleBuffer piece) {
      int end = at + piece.remaining();
      int start = 0;
      for (int k = 0; k < parts.length; k++) {
        int from = Math.max(at, start);
        int to = Math.min(end, start + parts[k].capacity());
        if (from < to) {
          long sum = copy(piece, piece.position() + from - at, parts[k], from - start, to - start);
          (k % 2 == 0 ? bits : blockBits).add(sum);
        }
        start += parts[k].capacity();
      }
    }

    @Override
    public void again() {
      bits.reset();
      blockBits.reset();
    }

    @Override
    public void giveUp() {
      rooms.giveBack(fronts[f], parts[0]);
    }

    @Override
    public void end() {
      int front = fronts[f];
      ContributionBlock block =
          leaves
              ? new ContributionBlock(front, d.cm(), d.cn(), blockValues, blockRhs, d.rhs())
              : null;
      bitsOf[f] = bits.sum() + blockBits.sum();
      bitsOfBlocks.add(blockBits.sum());
      int[] live = live(f, Math.min(d.fm(), d.fp()), parts[0]);
      FrontFactor factor;
      if (live.length < Math.min(d.fm(), d.fp())) {
        factor = withoutDead(f, live, parts[0], rhs, bits.sum());
      } else {
        factor = new FrontFactor(front, d.fn(), live, parts[0], rhs, d.rhs(), bits.sum());
      }
      done.put(factor, block, blockBits.sum());
    }
  }

  /**
   * Moves the rows of live pivots together, in their buffer, and records the dropped norms of dead
   * columns.
   *
   * @param sum of the mixed bits of all rows: those of dead columns have nothing but their norms
   */
  private FrontFactor withoutDead(int f, int[] live, DoubleBuffer values, double[] rhs, long sum) {
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
        dropped[f][k] = values.get(at);
        sum -= BitChecksum.mixed(values.get(at));
      }
      at += d.fn() - k;
    }
    moveRows(values, from, to);
    return new FrontFactor(fronts[f], d.fn(), live, values, right, d.rhs(), sum);
  }

  /**
   * Moves rows to lower places in their buffer, on several threads: always as many of the next ones
   * as come to lie before the first of them.
   *
   * @param from size rows; places now, ascending
   * @param to size rows + 1; places then, and their end
   */
  private void moveRows(DoubleBuffer values, int[] from, int[] to) {
    int end;
    for (int row = 0; row < from.length; row = end) {
      int first = row;
      end = row + 1;
      while (end < from.length && to[end + 1] <= from[first]) {
        end++;
      }
      if (to[first] == from[first]) {
        continue;
      }
      int moved = to[end] - to[first];
      Parallel.loop(
          end - first,
          Math.max(1, (int) (LARGE / 16 * (long) (end - first) / moved)),
          moved < LARGE / 8 ? 1 : Math.min(8, threads),
          (lo, hi, t) -> {
            for (int i = first + lo; i < first + hi; i++) {
              values.put(to[i], values, from[i], to[i + 1] - to[i]);
            }
          });
    }
  }

  /** The norms dropped by a front's DROP tasks, by pivot column, 0 for a live one, if any. */
  double @Nullable [] dropped(int f) {
    return dropped[f];
  }

  /** Rows of live pivots; the others have the dropped norm in the pivot's place. */
  private int[] live(int f, int rows, DoubleBuffer values) {
    FrontDescriptor d = program.descriptor(f);
    int[] live = new int[rows];
    int count = 0;
    int at = 0;
    for (int i = 0; i < rows; i++) {
      double pivot = values.get(at);
      // Half the tolerance: the executor has tested the same pivots, and a difference in rounding
      // must not be a failure.
      if (tolerance < 0 || pivot > tolerance / 2) {
        live[count++] = i;
      } else if (d.drop() == 0 || !(pivot <= tolerance / TaskLayout.DEAD_MARGIN)) {
        throw new IntegrityFailure(
            "front %d has the pivot %.2e in row %d and was called sound"
                .formatted(fronts[f], pivot, i));
      }
      at += d.fn() - i;
    }
    return Arrays.copyOf(live, count);
  }

  /** Values of the block of a front whose parent is not in the stage. */
  private static int valuesOfBlock(FrontDescriptor d) {
    return d.parent() < 0 ? (int) ContributionBlock.packedLength(d.cm(), d.cn()) : 0;
  }

  /**
   * Copies values start, start + 1, ... of a buffer to [begin, end); returns the sum of their mixed
   * bits.
   */
  private long copy(DoubleBuffer from, int start, DoubleBuffer to, int begin, int end) {
    if (end - begin < LARGE) {
      return BitChecksum.copied(from, start, to, begin, end);
    }
    var sum = new LongAdder();
    Parallel.loop(
        end - begin,
        LARGE / 4,
        Math.min(8, threads),
        (lo, hi, t) -> sum.add(BitChecksum.copied(from, start + lo, to, begin + lo, begin + hi)));
    return sum.sum();
  }
}
