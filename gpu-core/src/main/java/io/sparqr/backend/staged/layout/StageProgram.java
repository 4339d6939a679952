/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * All of a stage except its values: the places of the fronts, the maps, the places of the S
 * entries, the rounds. Depends on structure only and is immutable, so it can be reused for any
 * values of the same structure; arrays are shared and must not be modified.
 *
 * @param maps Rimap and Rjmap of fronts and blocks
 * @param entries the places of the S entries
 * @param initialState size fronts; {@link TaskLayout#STATE_DEAD} for fronts known to have a dead
 *     pivot before they are factored, else {@link TaskLayout#STATE_SOUND}
 * @param schedule the rounds
 * @param columns the stage's columns and each front's among them
 */
public record StageProgram(
    Counts counts,
    Descriptors table,
    int[] maps,
    Entries entries,
    int[] initialState,
    Memory memory,
    StageSchedule schedule,
    StageColumns columns) {

  /**
   * Numbers of what a stage has.
   *
   * @param fronts number of fronts, ascending in postorder
   * @param blocks number of input blocks
   * @param rhs right-hand sides
   * @param residualSlots number of residual partial sums
   * @param dropWords words of 8 bytes after the counts, for the fronts' drop records
   * @param probes number of probes of the column sums: rows of A and of children in all fronts
   */
  public record Counts(
      int fronts, int blocks, int rhs, int residualSlots, int dropWords, long probes) {}

  /**
   * The descriptors of fronts and blocks.
   *
   * @param encoded fronts + blocks descriptors ({@link TaskLayout}), little-endian
   * @param decoded size fronts + blocks: the same as objects, because decoding one for each look
   *     costs more than most looks
   */
  public record Descriptors(ByteBuffer encoded, FrontDescriptor[] decoded) {}

  /**
   * The places of the S entries.
   *
   * @param index size sEntries; place of each S entry in its front (unsigned)
   * @param bits {@link #placeBits} of these places when they were computed
   * @param ownRows size fronts if Q is kept: the rows of each front taken by its rows of A; else
   *     null
   */
  public record Entries(int[] index, long bits, int @Nullable [][] ownRows) {}

  /**
   * The buffers on the device.
   *
   * @param arenaDoubles size of the arena
   * @param inputDoubles size of the input buffer that holds the blocks
   * @param outStart size fronts + 1; front f's slice of the output buffer
   */
  public record Memory(long arenaDoubles, long inputDoubles, long[] outStart) {}

  /** {@link Counts#fronts}. */
  public int fronts() {
    return counts.fronts;
  }

  /** {@link Counts#blocks}. */
  public int blocks() {
    return counts.blocks;
  }

  /** Doubles of an input block: its values, then its right-hand sides. */
  public long blockDoubles(int block) {
    FrontDescriptor d = descriptor(fronts() + block);
    return ContributionBlock.packedLength(d.fm(), d.fn()) + (long) d.fm() * d.rhs();
  }

  /** {@link Counts#rhs}. */
  public int rhs() {
    return counts.rhs;
  }

  /** {@link Counts#residualSlots}. */
  public int residualSlots() {
    return counts.residualSlots;
  }

  /** {@link Counts#dropWords}. */
  public int dropWords() {
    return counts.dropWords;
  }

  /** {@link Counts#probes}. */
  public long probes() {
    return counts.probes;
  }

  /** {@link Descriptors#encoded}. */
  public ByteBuffer descriptors() {
    return table.encoded;
  }

  /** {@link Descriptors#decoded}. */
  public FrontDescriptor[] decoded() {
    return table.decoded;
  }

  /** {@link Entries#index}. */
  public int[] sIndex() {
    return entries.index;
  }

  /** {@link Entries#bits}. */
  public long sBits() {
    return entries.bits;
  }

  /** {@link Entries#ownRows}. */
  public int @Nullable [][] ownRows() {
    return entries.ownRows;
  }

  /** {@link Memory#arenaDoubles}. */
  public long arenaDoubles() {
    return memory.arenaDoubles;
  }

  /** {@link Memory#inputDoubles}. */
  public long inputDoubles() {
    return memory.inputDoubles;
  }

  /** {@link Memory#outStart}. */
  public long[] outStart() {
    return memory.outStart;
  }

  /** The sum of the mixed bits of places, each with its index. O(places). */
  public static long placeBits(int[] places) {
    return placeBits(places, 0, places.length);
  }

  /** The part of places [from, to) in this sum. */
  static long placeBits(int[] places, int from, int to) {
    long sum = 0;
    for (int e = from; e < to; e++) {
      sum += BitChecksum.mixed(places[e], e);
    }
    return sum;
  }

  /** Whether Q is wanted after the rounds. */
  public boolean keepsQ() {
    return entries.ownRows != null;
  }

  /** Descriptor of a front (index below fronts) or of block index - fronts. */
  public FrontDescriptor descriptor(int index) {
    return table.decoded[index];
  }

  /** Number of S entries. */
  public long sEntries() {
    return entries.index.length;
  }

  /** First double of front f's packed rows in the output buffer. */
  public long outStart(int f) {
    return memory.outStart[f];
  }

  /** Doubles of front f's packed rows: values, then right-hand sides. */
  public int outLength(int f) {
    return (int) (memory.outStart[f + 1] - memory.outStart[f]);
  }

  /** Columns that are no pivots of the stage's fronts. O(fronts). */
  public int outsideColumns() {
    int pivots = 0;
    for (int f = 0; f < counts.fronts; f++) {
      pivots += table.decoded[f].fp();
    }
    return columns.count() - pivots;
  }

  /** Size of the output buffer. */
  public long outDoubles() {
    return memory.outStart[counts.fronts];
  }

  /** Device memory of the stage, its task lists and its column sums included. */
  public long deviceBytes() {
    return 8 * (memory.arenaDoubles + memory.inputDoubles + outDoubles())
        + 12L * entries.index.length
        + 4L * maps.length
        + 4L * (columns.start().length + columns.number().length)
        + 80L * (columns.count() + counts.rhs)
        + 8 * counts.probes * Math.min(2, counts.rhs)
        + SumChunks.BYTES * (2L * counts.fronts + (outDoubles() + entries.index.length) / 512)
        + table.encoded.capacity()
        + 8L * counts.residualSlots * counts.rhs
        + 4L * counts.fronts
        + 8L * counts.dropWords
        + TaskLayout.TASK_BYTES * schedule.tasks()
        + 8L * TaskLayout.VT_DOUBLES * schedule.vtSlots();
  }
}
