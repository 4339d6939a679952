/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.StageFronts;
import io.sparqr.numeric.assembly.FrontLayout;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The places of a stage's S entries in their fronts, and their checksum, computed as they are
 * written. Different fronts may be placed by several threads.
 */
final class EntryPlaces {

  /** Entries that a thread places at a time in a front with many. */
  private static final long TOGETHER = 1 << 16;

  private final StageFronts stage;
  private final int[] id;
  private final RowsByFront rows;
  private final int threads;
  private final int[] index;
  private final int @Nullable [][] ownRows;
  private final LongAdder bits = new LongAdder();

  /**
   * No places yet.
   *
   * @param id size fronts; their numbers of the analysis
   * @param entries of all fronts
   * @param keepQ whether the rows taken by a front's rows of A are kept
   */
  EntryPlaces(
      StageFronts stage, int[] id, RowsByFront rows, int entries, int threads, boolean keepQ) {
    this.stage = stage;
    this.id = id;
    this.rows = rows;
    this.threads = threads;
    index = new int[entries];
    ownRows = keepQ ? new int[id.length][] : null;
  }

  /** Size entries; the place of each in its front. */
  int[] index() {
    return index;
  }

  /** {@link StageProgram#placeBits} of the places when they were written. */
  long bits() {
    return bits.sum();
  }

  /** Size fronts if Q is kept: the rows of each front taken by its rows of A; else null. */
  int @Nullable [][] ownRows() {
    return ownRows;
  }

  /**
   * Places the entries of front f's own rows: all rows' entries, then all right-hand sides. Those
   * of a front with many by several threads, or the others would wait for it.
   *
   * @param layout of the front, sorted
   */
  void place(int f, FrontLayout layout) {
    int own = layout.own();
    long entries = stage.firstEntry(f + 1) - stage.firstEntry(f);
    if (entries <= 2 * TOGETHER) {
      place(f, layout, 0, own);
    } else {
      Parallel.loop(
          own,
          (int) Math.max(1, TOGETHER * own / entries),
          (int) Math.min(threads, 1 + 2 * threads * entries / index.length),
          (from, to, t) -> place(f, layout, from, to));
    }
    if (ownRows != null) {
      ownRows[f] = Arrays.copyOf(layout.destination(), own);
    }
  }

  /** As above, for rows [from, end) of its own. */
  private void place(int f, FrontLayout layout, int from, int end) {
    int[] rowStart = rows.rows().rowStart();
    int[] place = layout.destination();
    int ld = stage.leadingDimension(f);
    int rhs = stage.rhs();
    int first = (int) (stage.firstEntry(f) + rows.valuesBefore(id[f], from));
    int firstRight = (int) stage.firstEntry(f + 1) - (layout.own() - from) * rhs;
    int to = first;
    int right = firstRight;
    for (int k = from; k < end; k++) {
      int i = layout.row(k);
      int base = place[k] * ld;
      layout.places(i, base, index, to);
      to += rowStart[i + 1] - rowStart[i];
      for (int j = 0; j < rhs; j++) {
        index[right++] = base + stage.columns(f) + j;
      }
    }
    // while they are in the caches
    bits.add(
        StageProgram.placeBits(index, first, to)
            + StageProgram.placeBits(index, firstRight, right));
  }
}
