/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.executor;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.StageColumns;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.solve.SolveLists;
import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.Balance;
import io.sparqr.numeric.integrity.ColumnProbe;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Runs a stage's task lists: a CUDA device, or the plain Java executor that specifies each task.
 * One stage at a time; not thread-safe.
 */
public interface RoundExecutor extends AutoCloseable {

  /** Name of the device, for the report; empty for the host. */
  String device();

  /** Memory limit for a stage ({@link StageProgram#deviceBytes()}). */
  long availableBytes();

  /** Options for cutting tasks for this executor. */
  SchedulerOptions schedulerOptions();

  /**
   * Tells of the task to which the next stages belong, for executors that plan ahead where its
   * fronts go. Optional.
   */
  default void task(SubtreeProblem problem) {}

  /** A line for the report on how the last task was done; empty: nothing to be said. */
  default Optional<String> remark() {
    return Optional.empty();
  }

  /**
   * Allocates, uploads, zeroes the arena, runs all tasks, and delivers the packed rows of each
   * front that is sound or whose tasks have dropped its dead columns: a dropped column has a row
   * with the dropped norm followed by zeros. A task may run as soon as its front has reached the
   * counts of finished tasks in its record, in any round; tasks of one round run in any order.
   *
   * @param program structure and schedule
   * @param input values
   * @param tolerance of the pivot test; negative: no test
   * @param sink receives the rows of each such front once, if it has any
   * @throws io.sparqr.error.InsufficientMemoryException if the stage does not fit in spite of its
   *     plan
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if the list has a task that waits for one
   *     after it, or one of a kind that does not exist ({@link TaskLayout#kind})
   */
  Result execute(StageProgram program, StageInput input, double tolerance, RowSink sink);

  /** Sets whether devices measure what they do in later stages. Off at first. Optional. */
  default void timed(boolean on) {}

  /**
   * What the devices did in the last {@link #execute}, if it was {@link #timed}: one for each
   * device that took part, and one more for the device that had to do it again. Empty for executors
   * without devices.
   */
  default List<DeviceTimeline> timelines() {
    return List.of();
  }

  /** Whether {@link #backSubstitute} can be used for such a stage. */
  default boolean solves(StageProgram program) {
    return false;
  }

  /**
   * Solves R x = c on the executor, from the packed rows of the last {@link #execute}, for the
   * stored right-hand sides and the {@link io.sparqr.numeric.Probe}. For a stage of sound fronts
   * whose tails are pivots of the stage, with at least one right-hand side.
   *
   * @return x, by number of the stage's columns ({@link StageColumns}), rhs + 1 values each
   */
  Solved backSubstitute(StageProgram program);

  /**
   * Leaves the packed rows of the last {@link #execute} on the executor, beyond its life, for
   * solves with R' and R. For a stage of sound fronts, {@link SolveLists#possible}, in which no
   * front's tail has a pivot of a front that is not above it.
   *
   * @return empty if there is no room for them
   */
  default Optional<KeptRows> keep(StageProgram program) {
    return Optional.empty();
  }

  /** Whether {@link #keep} will find room for such a stage, as far as can be told before. */
  default boolean hasRoom(StageProgram program) {
    return true;
  }

  /**
   * Announces, from within {@link RowSink#underWay}, a later {@link #backSubstitute} or {@link
   * #keep}, so that what they need besides the rows is made while the rounds run. Optional.
   *
   * @param both for {@code keep}: solves with R' and R
   */
  default void solveAhead(StageProgram program, boolean both) {}

  /**
   * A solution.
   *
   * @param x size columns x (rhs + 1), the probe's last
   * @param backwardError max over the rows of |c - R x| / (|R| |x| + |c|); NaN or huge if a value
   *     is not finite
   */
  record Solved(double[] x, double backwardError) {}

  /**
   * Delivers the packed rows of the last {@link #execute} to a sink that asked for them later
   * ({@link RowSink#later}).
   */
  void deliver(StageProgram program, RowSink sink);

  /** Copies parts of the output buffer of the last {@link #execute}, before {@link #keep}. */
  void copyRows(List<Slice> slices);

  /**
   * A part of the output buffer.
   *
   * @param from its first double
   * @param target receives as many as it has
   */
  record Slice(long from, double[] target) {}

  /**
   * Runs PACK_ROWS tasks on the fronts of the last {@link #execute} (sound ones, and those in state
   * {@link TaskLayout#STATE_DEAD}, which are finished too), and returns the output buffer.
   *
   * @param tasks count records, little-endian, from index 0
   * @param outDoubles size of the output buffer
   */
  double[] fetch(ByteBuffer tasks, int count, int outDoubles);

  /**
   * Column sums over the input rows of the last {@link #execute} as stored on the executor: rows of
   * A from their S entries, and blocks from outside. Over the included rows, with values r_k of the
   * columns k of row r's front or block, right-hand sides included:
   *
   * <pre>
   *   w_k = r_k scale[number(k)]          number: {@link StageColumns#number}
   *   t   = sum of w_k over the columns
   *   g   = sum of w_k over the right-hand sides, times ColumnProbe.right(rhs)
   *   squares[number(k)] += w_k^2         right-hand side q has number columns().count() + q
   *   probe[number(k)]   += w_k (t + g) for a column, w_k t for a right-hand side
   * </pre>
   *
   * <p>For correct rows, a column's sum of squares and all its partial sums are at most 1 (64 for
   * columns of a norm beyond 2^1020), and the sum of |w_k (t + g)| at most {@link
   * ColumnProbe#mostProbe}. So fixed point may be used; a value that is not finite or does not fit
   * must turn its sum into NaN, never into a small number.
   *
   * @param program of the last {@link #execute}
   * @param scale size columns + rhs; finite, not 0
   * @param counts size fronts: fronts whose rows and blocks from outside are summed
   * @param sums receives the sums
   * @return the sum of {@link io.sparqr.numeric.BitChecksum#mixed} over all values of S and of the
   *     blocks, included or not, and over the places of the S entries, each with its index
   */
  long inputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums);

  /**
   * These sums over the packed rows in the output buffer of the last {@link #execute}: of R, and of
   * blocks that leave the stage.
   *
   * @param counts size fronts: sound ones only
   * @return the sum of the mixed bits over the included values
   */
  long outputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums);

  /**
   * Announces, from within {@link RowSink#underWay}, the scale of the later {@link #compare}: an
   * asynchronous executor computes the sums as soon as its rounds are over, while their rows are
   * downloaded. Optional.
   */
  default void sumAhead(StageProgram program, double[] scale) {}

  /**
   * Compares {@link #inputSums} with {@link #outputSums} on the executor, for a stage in which all
   * fronts are sound: the largest relative departure as defined by {@link
   * io.sparqr.numeric.integrity.Balance}, NaN if a sum is NaN.
   *
   * @param residualSquares size rhs: squares of right-hand sides that end in the stage
   */
  default Compared compare(StageProgram program, double[] scale, double[] residualSquares) {
    boolean[] all = new boolean[program.fronts()];
    Arrays.fill(all, true);
    var in = new ColumnSums(scale.length);
    var out = new ColumnSums(scale.length);
    long bitsIn = inputSums(program, scale, all, in);
    long bitsOut = outputSums(program, scale, all, out);
    var columns = program.columns();
    var probe = ColumnProbe.ofAll(columns.count(), scale);
    var balance = new Balance(columns.all(), probe, in, columns.steps(), 1);
    return new Compared(balance.departure(out, residualSquares), bitsIn, bitsOut);
  }

  /**
   * A comparison.
   *
   * @param departure the largest departure
   * @param bitsIn result of {@link #inputSums}
   * @param bitsOut result of {@link #outputSums}
   */
  record Compared(double departure, long bitsIn, long bitsOut) {}

  /**
   * Sets whether later stages are computed by the safe method: by reflectors alone, and without
   * data of earlier stages. Off at first.
   */
  void safe(boolean on);

  /** Parts of a stage's memory. */
  enum Region {
    /** The fronts ({@link FrontDescriptor#data}). */
    ARENA,
    /** The VT slots, {@link TaskLayout#VT_DOUBLES} each. */
    VT
  }

  /**
   * Copies doubles [from, from + target.length) of a part after the last {@link #execute}.
   *
   * @param target receives the values
   */
  void read(Region region, long from, double[] target);

  /** Releases the resources of the last stage; idempotent. */
  @Override
  void close();

  /**
   * The result of a stage besides rows.
   *
   * @param state size fronts; one of {@link TaskLayout}'s states. A front's state does not change
   *     after its last round ({@link StageSchedule#lastRound})
   * @param residual size residualSlots x rhs; slots of unfinished fronts are 0
   * @param h2dBytes sent to the device
   * @param d2hBytes received from it
   */
  record Result(int[] state, double[] residual, long h2dBytes, long d2hBytes) {}

  /** The values of a stage, written in pieces directly to buffers of the executor. */
  interface StageInput {

    /**
     * Writes the S values of fronts [from, to), which are contiguous, to the target's position.
     * Thread-safe.
     */
    void writeS(int from, int to, DoubleBuffer target);

    /**
     * Divides the S values of a large front into parts for several threads; each is written once.
     *
     * @param doubles approximate size of a part
     */
    List<Part> parts(int front, int doubles);

    /** Writes a part to the target's position. Thread-safe. */
    void writePart(Part part, DoubleBuffer target);

    /**
     * Values or right-hand sides of some of a front's rows.
     *
     * @param from first row, among the front's own
     * @param to end of the rows
     * @param right whether the part has right-hand sides
     * @param offset of its first double in the front's S values
     * @param doubles its length
     */
    record Part(int front, int from, int to, boolean right, long offset, int doubles) {}

    /**
     * Writes doubles [from, to) of an input block (values, then right-hand sides) to the target's
     * position; all of them are written once. Thread-safe.
     */
    void writeBlock(int block, long from, long to, DoubleBuffer target);
  }

  /** Receives the packed rows of one front in pieces. */
  interface RowPieces {

    /**
     * Takes the doubles that start at the {@code at}th; called from any thread, with several pieces
     * at a time.
     */
    void put(int at, DoubleBuffer piece);

    /** Called after the last piece. */
    void end();

    /** Called in place of {@link #end} if all pieces come again: dead columns have been dropped. */
    default void again() {}

    /** Called in place of {@link #end} if the front is not sound: what has come is of no use. */
    default void giveUp() {}
  }

  /** Receives packed rows. */
  @FunctionalInterface
  interface RowSink {

    /**
     * Whether {@link #execute} leaves the rows where they are, for {@link #deliver} if they are
     * needed. For executors that solve ({@link #solves}).
     */
    default boolean later() {
      return false;
    }

    /**
     * Called on the thread of {@link #execute} when that thread is free for other work. Optional.
     */
    default void underWay() {}

    /**
     * Takes the packed rows of a front: {@code rows} holds exactly the front's slice of the output
     * buffer, {@link StageProgram#outStart} .. + {@link StageProgram#outLength}: values row by row,
     * then right-hand sides. Called from any thread, for several fronts at a time; the buffer must
     * not be used after the return.
     */
    void accept(int front, DoubleBuffer rows);

    /**
     * Takes the packed rows of a large front in pieces instead, the first of them perhaps before it
     * is known whether the front is sound. The default joins them for {@link #accept}.
     *
     * @param length of the front's slice of the output buffer
     */
    default RowPieces begin(int front, int length) {
      double[] rows = new double[length];
      return new RowPieces() {
        @Override
        public void put(int at, DoubleBuffer piece) {
          piece.get(rows, at, piece.remaining());
        }

        @Override
        public void end() {
          accept(front, DoubleBuffer.wrap(rows));
        }
      };
    }
  }
}
