/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.numeric.BitChecksum;
import java.nio.ByteBuffer;

/**
 * All of a stage except its values: the places of the fronts, the maps, the places of the S
 * entries, the rounds. Depends on structure only and is immutable, so it can be reused for any
 * values of the same structure; arrays are shared and must not be modified.
 *
 * @param fronts number of fronts, ascending in postorder
 * @param blocks number of input blocks
 * @param rhs right-hand sides
 * @param descriptors fronts + blocks descriptors ({@link TaskLayout}), little-endian
 * @param maps Rimap and Rjmap of fronts and blocks
 * @param sIndex size sEntries; place of each S entry in its front (unsigned)
 * @param sBits {@link #placeBits} of these places when they were computed
 * @param initialState size fronts; {@link TaskLayout#STATE_DEAD} for fronts known to have a dead
 *     pivot before they are factored, else {@link TaskLayout#STATE_SOUND}
 * @param arenaDoubles size of the arena
 * @param inputDoubles size of the input buffer that holds the blocks
 * @param outStart size fronts + 1; front f's slice of the output buffer
 * @param residualSlots number of residual partial sums
 * @param dropWords words of 8 bytes after the counts, for the fronts' drop records
 * @param schedule the rounds
 * @param columns the stage's columns and each front's among them
 * @param ownRows size fronts if Q is kept: the rows of each front taken by its rows of A; else null
 * @param decoded size fronts + blocks: {@code descriptors} as objects, because decoding one for
 *     each look costs more than most looks
 * @param probes number of probes of the column sums: rows of A and of children in all fronts
 */
public record StageProgram(
    int fronts,
    int blocks,
    int rhs,
    ByteBuffer descriptors,
    int[] maps,
    int[] sIndex,
    long sBits,
    int[] initialState,
    long arenaDoubles,
    long inputDoubles,
    long[] outStart,
    int residualSlots,
    int dropWords,
    StageSchedule schedule,
    StageColumns columns,
    int[][] ownRows,
    FrontDescriptor[] decoded,
    long probes) {

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
    return ownRows != null;
  }

  /** Descriptor of a front (index below fronts) or of block index - fronts. */
  public FrontDescriptor descriptor(int index) {
    return decoded[index];
  }

  /** Number of S entries. */
  public long sEntries() {
    return sIndex.length;
  }

  /** First double of front f's packed rows in the output buffer. */
  public long outStart(int f) {
    return outStart[f];
  }

  /** Doubles of front f's packed rows: values, then right-hand sides. */
  public int outLength(int f) {
    return (int) (outStart[f + 1] - outStart[f]);
  }

  /** Columns that are no pivots of the stage's fronts. O(fronts). */
  public int outsideColumns() {
    int pivots = 0;
    for (int f = 0; f < fronts; f++) {
      pivots += decoded[f].fp();
    }
    return columns.count() - pivots;
  }

  /** Size of the output buffer. */
  public long outDoubles() {
    return outStart[fronts];
  }

  /** Device memory of the stage, its task lists and its column sums included. */
  public long deviceBytes() {
    return 8 * (arenaDoubles + inputDoubles + outDoubles())
        + 12L * sIndex.length
        + 4L * maps.length
        + 4L * (columns.start().length + columns.number().length)
        + 80L * (columns.count() + rhs)
        + 8 * probes
        + SumChunks.BYTES * (2L * fronts + (outDoubles() + sIndex.length) / 512)
        + descriptors.capacity()
        + 8L * residualSlots * rhs
        + 4L * fronts
        + 8L * dropWords
        + TaskLayout.TASK_BYTES * schedule.tasks()
        + 8L * TaskLayout.VT_DOUBLES * schedule.vtSlots();
  }
}
