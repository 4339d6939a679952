/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.util.function.IntPredicate;

/**
 * The numbering of the VT slots of a stage's fronts: the first slot written by each local round of
 * a front. Immutable.
 */
final class VtSlots {

  /** size fronts + 1 and its sum: first VT slot of (front, local round). */
  private final int[] slotStart;

  private final int[] slotBase;

  /** size fronts; first slot available to a front's DROP tasks. */
  private final int[] dropFrom;

  private final int count;

  /** Numbers the slots of fronts with scheduled rounds. */
  VtSlots(StageFronts stage) {
    this(stage, f -> false);
  }

  /**
   * The same, with a slot for each bundle of some fronts.
   *
   * @param once fronts whose slots are written only once: those of several devices, because nothing
   *     tells the device that made a bundle when all others have taken it
   */
  VtSlots(StageFronts stage, IntPredicate once) {
    slotStart = new int[stage.fronts + 1];
    for (int f = 0; f < stage.fronts; f++) {
      int length = stage.rounds[f] == null ? 0 : stage.rounds[f].rounds();
      slotStart[f + 1] = Math.addExact(slotStart[f], length);
    }
    slotBase = new int[slotStart[stage.fronts]];
    dropFrom = new int[stage.fronts];
    count = stage.keepQ ? ownSlots(stage) : sharedSlots(stage, once);
  }

  /** Number of slots required. */
  int count() {
    return count;
  }

  /** First slot written by a local round of front f. */
  int base(int f, int local) {
    return slotBase[slotStart[f] + local];
  }

  /** The first slot available to the DROP tasks of front f after its other tasks. */
  int dropFrom(int f) {
    return dropFrom[f];
  }

  /** If Q is kept: the first slot of front f, followed by those of f + 1. */
  int first(int f) {
    return slotStart[f] < slotBase.length ? slotBase[slotStart[f]] : count;
  }

  /** Numbers a slot for every bundle, front by front in the order of the rounds. */
  private int ownSlots(StageFronts stage) {
    int used = 0;
    for (int f = 0; f < stage.fronts; f++) {
      for (int local = 0; local < slotStart[f + 1] - slotStart[f]; local++) {
        slotBase[slotStart[f] + local] = used;
        used = Math.addExact(used, stage.rounds[f].writes(local));
      }
    }
    return used;
  }

  /**
   * Numbers three sets of slots per front, by local round modulo 3, because a slot written in round
   * r is read in round r + 1, and the Factorize tasks of round r + 2 may run before these reads
   * end. A front starts after all its descendants are done, so it may reuse their slots; fronts
   * that are not ancestors of each other have separate slots.
   */
  private int sharedSlots(StageFronts stage, IntPredicate once) {
    int n = stage.fronts;
    int[][] most = new int[n][];
    int[] below = new int[n + 1];
    for (int f = 0; f < n; f++) {
      FrontSchedule s = stage.rounds[f];
      int own = 0;
      if (s != null && once.test(f)) {
        for (int local = 0; local < s.rounds(); local++) {
          own = Math.addExact(own, s.writes(local));
        }
      } else if (s != null) {
        most[f] = new int[3];
        for (int local = 0; local < s.rounds(); local++) {
          most[f][local % 3] = Math.max(most[f][local % 3], s.writes(local));
        }
        own = Math.addExact(Math.addExact(most[f][0], most[f][1]), most[f][2]);
      }
      below[f] = Math.max(below[f], Math.max(own, stage.dropSlots(f)));
      int p = stage.parent[f] < 0 ? n : stage.parent[f];
      below[p] = Math.addExact(below[p], below[f]);
    }
    // From the roots down: a front's children divide its range.
    int[] base = new int[n];
    int[] taken = new int[n + 1];
    for (int f = n - 1; f >= 0; f--) {
      int p = stage.parent[f] < 0 ? n : stage.parent[f];
      base[f] = (p == n ? 0 : base[p]) + taken[p];
      taken[p] += below[f];
      dropFrom[f] = base[f];
      FrontSchedule s = stage.rounds[f];
      int used = 0;
      for (int local = 0; s != null && local < s.rounds(); local++) {
        if (once.test(f)) {
          slotBase[slotStart[f] + local] = base[f] + used;
          used += s.writes(local);
          continue;
        }
        int set = local % 3;
        slotBase[slotStart[f] + local] =
            base[f] + (set > 0 ? most[f][0] : 0) + (set > 1 ? most[f][1] : 0);
      }
    }
    return below[n];
  }
}
