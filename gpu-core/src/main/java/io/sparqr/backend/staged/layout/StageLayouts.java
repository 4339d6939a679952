/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.error.IndexOverflowException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stages of a task and their programs: as the last task of the same structure had them, or laid
 * out while the stage before is under way, or laid out when it is their turn.
 */
public final class StageLayouts {

  private final PreparedTask prepared;
  private final StageEstimate estimate;

  /** Laid out for the place after the stage under way, if any. */
  private PreparedTask.@Nullable Stage ahead;

  private int laidOutAhead;

  public StageLayouts(PreparedTask prepared, StageEstimate estimate) {
    this.prepared = prepared;
    this.estimate = estimate;
  }

  /** Stages used so far that were laid out while another one was under way. */
  public int laidOutAhead() {
    return laidOutAhead;
  }

  /**
   * The stage at a place in the task's sequence, if its program is there already; else null.
   *
   * @param pending fronts not yet done
   * @param there blocks that enter them
   * @param budget bytes
   */
  public PreparedTask.@Nullable Stage known(int at, int[] pending, BlockShapes there, long budget) {
    PreparedTask.Stage last = at < prepared.stages.size() ? prepared.stages.get(at) : null;
    for (PreparedTask.Stage s : Arrays.asList(last, ahead)) {
      if (s != null && s.serves(pending, there, prepared.analysis, budget)) {
        return s;
      }
    }
    return null;
  }

  /**
   * Lays out a stage of some fronts. Null for a single front that is tall and too large for the
   * device.
   *
   * @throws IndexOverflowException if a front has too many entries, and is not tall
   */
  public PreparedTask.@Nullable Stage laidOut(int[] fronts, BlockShapes there, long budget) {
    return laidOut(fronts, there, budget, false);
  }

  private PreparedTask.@Nullable Stage laidOut(
      int[] fronts, BlockShapes there, long budget, boolean early) {
    boolean tall = fronts.length == 1 && estimate.isTall(fronts[0], there);
    try {
      List<BlockShape> in = there.inputs(prepared.analysis, fronts);
      StageProgram program = prepared.builder.build(fronts, in);
      return tall && program.deviceBytes() > budget
          ? null
          : new PreparedTask.Stage(fronts, in, program, early);
    } catch (IndexOverflowException e) {
      if (tall) {
        return null;
      }
      throw e;
    }
  }

  /**
   * Lays out the stage that follows the one under way, if all pivots of that turn out live, unless
   * it is known. Whatever is wrong with it is found, and told, when it is its turn.
   *
   * @param at its place in the sequence
   * @param pending fronts after the stage under way
   * @param there blocks that will enter them
   * @return it; null if there is none, or something is wrong with it
   */
  public PreparedTask.@Nullable Stage ahead(int at, int[] pending, BlockShapes there, long budget) {
    if (pending.length == 0) {
      return null;
    }
    PreparedTask.Stage known = known(at, pending, there, budget);
    if (known != null) {
      return known;
    }
    int count = estimate.prefix(pending, there, budget);
    try {
      PreparedTask.Stage next = laidOut(Arrays.copyOf(pending, count), there, budget, true);
      while (next != null && next.program().deviceBytes() > budget && count > 1) {
        count = fewer(count, next.program().deviceBytes(), budget);
        next = laidOut(Arrays.copyOf(pending, count), there, budget, true);
      }
      ahead = next;
    } catch (IndexOverflowException e) {
      ahead = null;
    }
    return ahead;
  }

  /** Number of fronts to try after this many, at least two, needed more than the budget. */
  public static int fewer(int count, long required, long budget) {
    return Math.max(1, (int) Math.min(count - 1, count * 0.9 * budget / required));
  }

  /** Records the stage that was run at a place, for the next task of the same structure. */
  @SuppressWarnings("ReferenceEquality") // this very stage
  public void ran(int at, PreparedTask.Stage stage) {
    if (at < prepared.stages.size() && prepared.stages.get(at) == stage) {
      return;
    }
    prepared.stages.subList(Math.min(at, prepared.stages.size()), prepared.stages.size()).clear();
    prepared.stages.add(stage);
    laidOutAhead += stage.early() ? 1 : 0;
  }
}
