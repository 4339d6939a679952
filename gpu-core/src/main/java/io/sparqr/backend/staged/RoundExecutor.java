/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.numeric.integrity.Balance;
import io.sparqr.numeric.integrity.ColumnProbe;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * What runs a stage's task lists: a CUDA device, or the plain Java executor that specifies what
 * each task means. One stage at a time; not thread-safe.
 */
public interface RoundExecutor extends AutoCloseable {

  /** Name of the device, for the report; empty for the host. */
  String device();

  /** Bytes that a stage may take ({@link StageProgram#deviceBytes()}). */
  long availableBytes();

  /** How to cut tasks for this executor. */
  SchedulerOptions schedulerOptions();

  /**
   * Allocates, uploads, zeroes the arena, runs all tasks, and hands out the packed rows of each
   * front that is sound, or whose dead columns its tasks have dropped: a row in which what was
   * dropped is followed by zeros stands for each of these. A task may run as soon as its front's
   * counts of finished tasks are what its record says, whatever round others are in; tasks of one
   * round in any order.
   *
   * @param program structure and schedule
   * @param input values
   * @param tolerance of the pivot test; negative: no test
   * @param sink takes the rows of every such front that has any, each once
   * @throws io.sparqr.error.InsufficientMemoryException if the stage does not fit after all
   */
  Result execute(StageProgram program, StageInput input, double tolerance, RowSink sink);

  /**
   * Runs PACK_ROWS tasks on the fronts as the last {@link #execute} left them (sound ones, and
   * those in state {@link TaskLayout#STATE_DEAD}, which are finished all the same), and returns the
   * output buffer that they filled.
   *
   * @param tasks count records, little-endian, from index 0
   * @param outDoubles size of the output buffer
   */
  double[] fetch(ByteBuffer tasks, int count, int outDoubles);

  /**
   * Column sums over the rows that went into the last {@link #execute}, as they are where it ran:
   * rows of A from their S entries, and blocks from outside. Over the rows of what counts, with
   * values r_k of the columns k of row r's front or block, right-hand sides included:
   *
   * <pre>
   *   w_k = r_k scale[number(k)]          number: {@link StageColumns#number}
   *   t   = sum of w_k over the columns, not over right-hand sides
   *   squares[number(k)] += w_k^2         right-hand side q has number columns().count() + q
   *   probe[number(k)]   += w_k t
   * </pre>
   *
   * <p>Where the rows are right, a column's sum of squares is at most 1 (64 for columns of a norm
   * beyond 2^1020), every partial sum of it is, and the sum of |w_k t| at most the number of
   * columns. So fixed point may be used; a value that is not finite or does not fit must show as
   * NaN in a sum that it belongs to, never as something small.
   *
   * @param program of the last {@link #execute}
   * @param scale size columns + rhs; finite, not 0
   * @param counts size fronts: whose rows, and whose blocks from outside, are summed
   * @param sums added to
   * @return the sum of {@link io.sparqr.numeric.BitChecksum#mixed} over all values, of S and of the
   *     blocks, whether they count or not, and over the places of the S entries, each with its
   *     number
   */
  long inputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums);

  /**
   * The same sums over the packed rows that the last {@link #execute} left in the output buffer: of
   * R, and of blocks that leave the stage.
   *
   * @param counts size fronts: sound ones only
   * @return the sum of the mixed bits over the values that count
   */
  long outputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums);

  /**
   * Says, from within {@link RowSink#underWay}, with what scale {@link #compare} will be asked: an
   * executor that works by itself takes the sums as soon as its rounds are over, while the rows
   * that they left are on their way. Optional.
   */
  default void sumAhead(StageProgram program, double[] scale) {}

  /**
   * Compares {@link #inputSums} with {@link #outputSums} where both are, for a stage in which all
   * fronts are sound: the largest relative departure as {@link io.sparqr.numeric.integrity.Balance}
   * has it, NaN if a sum is none.
   *
   * @param residualSquares size rhs: squares of right-hand sides that ended in the stage
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
   * @param departure the largest
   * @param bitsIn as {@link #inputSums} returns them
   * @param bitsOut as {@link #outputSums} does
   */
  record Compared(double departure, long bitsIn, long bitsOut) {}

  /**
   * Whether stages from now on are computed the safe way, by reflectors alone, and from nothing
   * that an earlier stage left; at first they are not.
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
   * Copies doubles [from, from + target.length) of a part as the last {@link #execute} left it.
   *
   * @param target filled
   */
  void read(Region region, long from, double[] target);

  /** Releases whatever the last stage holds; idempotent. */
  @Override
  void close();

  /**
   * What came out of a stage besides rows.
   *
   * @param state size fronts; one of {@link TaskLayout}'s states. A front's state does not change
   *     after its last round ({@link StageSchedule#lastRound})
   * @param residual size residualSlots x rhs; slots of fronts that were not finished are 0
   * @param h2dBytes sent to the device
   * @param d2hBytes received
   */
  record Result(int[] state, double[] residual, long h2dBytes, long d2hBytes) {}

  /** The values of a stage, written in pieces straight to where the executor wants them. */
  interface StageInput {

    /**
     * Writes the S values of fronts [from, to), which are contiguous, to the target's position.
     * Thread-safe.
     */
    void writeS(int from, int to, DoubleBuffer target);

    /**
     * The S values of a large front in parts that several threads can write; each is written once.
     *
     * @param doubles of a part, about
     */
    List<Part> parts(int front, int doubles);

    /** Writes a part to the target's position. Thread-safe. */
    void writePart(Part part, DoubleBuffer target);

    /**
     * Values, or right-hand sides, of some of a front's rows.
     *
     * @param from first row, of the front's own
     * @param to one past the last
     * @param right whether right-hand sides are meant
     * @param offset of its first double in the front's S values
     * @param doubles its length
     */
    record Part(int front, int from, int to, boolean right, long offset, int doubles) {}

    /** Writes input block b (values, then right-hand sides) to the target's position. */
    void writeBlock(int block, DoubleBuffer target);
  }

  /** The packed rows of one front, which come in pieces. */
  interface RowPieces {

    /** Takes the doubles from the {@code at}th on; from any thread, several pieces at a time. */
    void put(int at, DoubleBuffer piece);

    /** All pieces are there. */
    void end();
  }

  /** Where packed rows go. */
  @FunctionalInterface
  interface RowSink {

    /**
     * Says that a front's rows will come, unless it turns out unsound: time to allocate while the
     * device works. Optional, at most once a front, from any thread, before its {@link #accept}.
     */
    default void expect(int front) {}

    /**
     * Says that all that the caller's thread has to do for now is done: time for other work.
     * Optional, on the thread of {@link #execute}.
     */
    default void underWay() {}

    /**
     * Takes the packed rows of a front: {@code rows} holds exactly the front's slice of the output
     * buffer, {@link StageProgram#outStart} .. + {@link StageProgram#outLength}: values row by row,
     * then right-hand sides. Called from any thread, several at a time for different fronts; the
     * buffer is the caller's again on return.
     */
    void accept(int front, DoubleBuffer rows);

    /**
     * Takes the packed rows of a large front in pieces instead. This default puts them together for
     * {@link #accept}.
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
