/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Replays the decoded lists of a stage symbolically and checks every invariant of a schedule. It
 * keeps its own books: the bundles of each row tile, and which of them have been applied to each
 * column tile.
 */
final class ScheduleChecker {

  private record Bundle(int front, int column, int[] tiles) {}

  private final RandomStages random;
  private final StageFronts s;
  private final String name;

  /**
   * By front and row tile, the bundles in order; by column tile, how many of them were applied to
   * it.
   */
  private final List<Bundle>[][] history;

  private final int[][][] seen;
  private final int[][][] annihilated;
  private final int[][] finals;
  private final int[][] packedAt;
  private final int[] firstTask;
  private final int[] lastInput;
  private final long[] scattered;

  /** size fronts each: DROP tasks, their residual slot, their first VT slot. */
  private final int[] drops;

  private final int[] endSlot;
  private final int[] dropFrom;
  private final Map<Integer, Bundle> slots = new HashMap<>();

  /** Where Q is kept: the bundle that each slot has ever held. */
  private final Map<Integer, Bundle> kept = new HashMap<>();

  private final Map<String, Integer> moved = new HashMap<>();

  @SuppressWarnings({"unchecked", "rawtypes"})
  ScheduleChecker(String name, RandomStages random) {
    this.name = name;
    this.random = random;
    s = random.stage;
    history = new List[s.fronts][];
    seen = new int[s.fronts][][];
    annihilated = new int[s.fronts][][];
    finals = new int[s.fronts][];
    packedAt = new int[s.fronts][];
    firstTask = new int[s.fronts];
    lastInput = new int[s.fronts];
    scattered = new long[s.fronts];
    drops = new int[s.fronts];
    endSlot = new int[s.fronts];
    dropFrom = new int[s.fronts];
    Arrays.fill(firstTask, Integer.MAX_VALUE);
    Arrays.fill(lastInput, -1);
    for (int f = 0; f < s.fronts; f++) {
      if (s.rounds[f] != null) {
        int rows = s.rounds[f].rowTiles;
        history[f] = new List[rows];
        Arrays.setAll(history[f], i -> new ArrayList<Bundle>());
        seen[f] = new int[rows][s.columnTiles(f)];
        annihilated[f] = new int[rows][s.rounds[f].pivotTiles];
        finals[f] = new int[s.rounds[f].pivotTiles];
        packedAt[f] = new int[rows];
        Arrays.fill(packedAt[f], Integer.MAX_VALUE);
      }
      scattered[f] = s.sStart[f];
    }
  }

  void check(StageSchedule schedule) {
    for (int f = 0; f < s.fronts; f++) {
      endSlot[f] = schedule.residualStart(f) + Math.max(0, s.fm[f] - s.fn[f] + 1023) / 1024;
    }
    for (int r = 0; r < schedule.rounds(); r++) {
      long first = schedule.roundStart(r);
      int tasks = (int) (schedule.roundStart(r + 1) - first);
      assertThat(tasks).as("%s: progress in round %d", name, r).isPositive();
      ByteBuffer b =
          ByteBuffer.allocate(tasks * TaskLayout.TASK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      schedule.write(r, r + 1, b);
      var list = new ArrayList<Task>();
      for (int k = 0; k < tasks; k++) {
        int kind = b.get(k * TaskLayout.TASK_BYTES);
        assertThat(first + k)
            .as("%s: kinds are grouped", name)
            .isBetween(schedule.kindStart(r, kind), kindEnd(schedule, r, kind) - 1);
        list.add(TaskLayout.decode(b, k * TaskLayout.TASK_BYTES));
      }
      round(r, list, schedule.vtSlots());
      for (Task task : list) {
        if (reads(task)) {
          assertThat(r)
              .as("%s: %s needs no entries or block before", name, task)
              .isGreaterThanOrEqualTo(schedule.assemblyRound(task.front()));
        }
      }
    }
    finish(schedule);
  }

  /** Whether a task reads S or a block from outside. */
  private static boolean reads(Task task) {
    return task instanceof Task.AssembleS
        || task instanceof Task.AssembleBlock
        || task instanceof Task.SmallFront small && small.assembleS();
  }

  private static long kindEnd(StageSchedule schedule, int r, int kind) {
    return kind + 1 < TaskLayout.KINDS_OF_ONE
        ? schedule.kindStart(r, kind + 1)
        : schedule.roundStart(r + 1);
  }

  private void round(int r, List<Task> list, int vtSlots) {
    Set<List<Integer>> written = new HashSet<>();
    Set<List<Integer>> read = new HashSet<>();
    Map<Integer, Bundle> filled = new HashMap<>();
    // Applies first: they come first within a task too, and different tasks touch different tiles.
    for (Task task : list) {
      if (task instanceof Task.Apply t) {
        apply(r, t.front(), t.column(), t.bundle(), t.vtSlot(), t.from(), t.to(), written, read);
      } else if (task instanceof Task.ApplyFactorize t) {
        int c = t.column() + 1;
        apply(r, t.front(), t.column(), t.bundle(), t.vtSlot(), c, c + 1, written, read);
      }
    }
    for (Task task : list) {
      if (task instanceof Task.Factorize t) {
        write(r, t.front(), t.bundle(), t.column(), written);
        factorize(r, t.front(), t.column(), t.bundle(), t.vtSlot(), t.last(), filled);
      } else if (task instanceof Task.ApplyFactorize t) {
        List<Integer> applied = Arrays.stream(t.bundle()).boxed().toList();
        int[] delta = Arrays.stream(t.nextBundle()).filter(i -> !applied.contains(i)).toArray();
        assertThat(delta.length).isEqualTo(t.nextBundle().length - t.bundle().length + 1);
        write(r, t.front(), delta, t.column() + 1, written);
        factorize(r, t.front(), t.column() + 1, t.nextBundle(), t.nextVtSlot(), t.last(), filled);
      } else {
        move(r, task);
      }
    }
    read.retainAll(written);
    assertThat(read).as("%s: tiles read and written in round %d", name, r).isEmpty();
    for (int slot : filled.keySet()) {
      assertThat(slot).isLessThan(vtSlots);
    }
    slots.clear();
    slots.putAll(filled);
  }

  private void write(int r, int f, int[] tiles, int column, Set<List<Integer>> written) {
    for (int i : tiles) {
      assertThat(written.add(List.of(f, i, column)))
          .as("%s: front %d, tile (%d, %d) written twice in round %d", name, f, i, column, r)
          .isTrue();
      assertThat(packedAt[f][i]).as("%s: rows were handed on before", name).isGreaterThan(r);
    }
  }

  private void apply(
      int r,
      int f,
      int column,
      int[] tiles,
      int slot,
      int from,
      int to,
      Set<List<Integer>> written,
      Set<List<Integer>> read) {
    firstTask[f] = Math.min(firstTask[f], r);
    Bundle b = slots.get(slot);
    assertThat(b).as("%s: slot %d was filled in the round before %d", name, slot, r).isNotNull();
    assertThat(b.front).isEqualTo(f);
    assertThat(b.column).isEqualTo(column);
    assertThat(b.tiles).containsExactly(tiles);
    for (int c = from; c < to; c++) {
      write(r, f, tiles, c, written);
      for (int i : tiles) {
        assertThat(history[f][i].get(seen[f][i][c]++))
            .as("%s: front %d, tile (%d, %d) sees its bundles in order", name, f, i, c)
            .isSameAs(b);
      }
    }
    for (int k = 1; k < tiles.length; k++) {
      read.add(List.of(f, tiles[k], column));
    }
  }

  private void factorize(
      int r, int f, int c, int[] tiles, int slot, boolean last, Map<Integer, Bundle> filled) {
    firstTask[f] = Math.min(firstTask[f], r);
    assertThat(tiles.length).isBetween(1, random.options.bundle());
    assertThat(tiles).isSorted().doesNotHaveDuplicates();
    var b = new Bundle(f, c, tiles);
    for (int k = 0; k < tiles.length; k++) {
      int i = tiles[k];
      assertThat(seen[f][i][c])
          .as("%s: front %d, tile (%d, %d) is up to date in round %d", name, f, i, c, r)
          .isEqualTo(history[f][i].size());
      assertThat(random.left[f][i]).isLessThanOrEqualTo(c);
      history[f][i].add(b);
      Arrays.fill(seen[f][i], 0, c + 1, history[f][i].size());
      annihilated[f][i][c] += k == 0 ? 0 : 1;
    }
    assertThat(finals[f][c]).as("%s: column tile %d is final already", name, c).isZero();
    if (last) {
      assertThat(tiles[0]).isEqualTo(c);
      finals[f][c]++;
    }
    boolean right = c + 1 < s.columnTiles(f);
    assertThat(slot >= 0)
        .as("%s: a slot if there is something to the right, or Q is kept", name)
        .isEqualTo(right || s.keepQ);
    if (slot >= 0) {
      assertThat(filled.put(slot, b)).as("%s: slot %d filled twice", name, slot).isNull();
      assertThat(slots).as("%s: slot %d is in flight", name, slot).doesNotContainKey(slot);
      assertThat(s.keepQ && kept.put(slot, b) != null)
          .as("%s: slot %d is wanted after the rounds", name, slot)
          .isFalse();
    }
  }

  /** Assembly, small fronts and output: counts the rows at each place. */
  private void move(int r, Task task) {
    if (task instanceof Task.AssembleS t) {
      assertThat(t.from()).isEqualTo(scattered[t.front()]);
      scattered[t.front()] = t.to();
      lastInput[t.front()] = Math.max(lastInput[t.front()], r);
    } else if (task instanceof Task.PackAssemble t) {
      passed(r, t.front(), t.parent());
      count("pack " + t.front(), t.rowFrom(), t.rowTo(), t.columnFrom(), t.columnTo());
      markPacked(r, t.front(), s.fp[t.front()] + t.rowFrom(), s.fp[t.front()] + t.rowTo());
    } else if (task instanceof Task.AssembleBlock t) {
      lastInput[t.parent()] = Math.max(lastInput[t.parent()], r);
      count(
          "block " + (t.block() - s.fronts), t.rowFrom(), t.rowTo(), t.columnFrom(), t.columnTo());
    } else if (task instanceof Task.PackRows t) {
      markPacked(r, t.front(), t.rowFrom(), t.rowTo());
      for (int i = t.rowFrom(); i < t.rowTo(); i++) {
        moved.merge("out " + t.front() + " " + i, 1, Integer::sum);
      }
      assertThat(t.out()).isEqualTo(s.packedRow(t.front(), t.rowFrom()));
    } else if (task instanceof Task.Residual t) {
      markPacked(r, t.front(), t.rowFrom(), t.rowTo());
      moved.merge("residual " + t.front(), t.rowTo() - t.rowFrom(), Integer::sum);
    } else if (task instanceof Task.SmallFront t) {
      smallFront(r, t);
    } else if (task instanceof Task.Drop t) {
      drop(r, t);
    }
  }

  /** Only when the whole front is done: at the same time as its last rows leave, never before. */
  private void drop(int r, Task.Drop t) {
    int f = t.front();
    assertThat(s.dropAt[f]).as("%s: front %d drops", name, f).isPositive();
    assertThat(r).isEqualTo(dropRound(f));
    markPacked(r, f, 0, s.fm[f]);
    assertThat(t.parent()).isEqualTo(s.parent[f]);
    if (t.parent() >= 0) {
      passed(r, f, t.parent());
    }
    assertThat(t.rows()).isEqualTo(s.outRows[f]);
    assertThat(t.out()).isEqualTo(s.packedRow(f, 0));
    assertThat(t.outRhs()).isEqualTo(s.packedRhs(f, 0));
    boolean ends = s.rhs > 0 && s.fm[f] >= s.fn[f];
    assertThat(t.slot()).as("%s: residual of front %d", name, f).isEqualTo(ends ? endSlot[f] : -1);
    drops[f]++;
    dropFrom[f] = t.vtFrom();
  }

  private int dropRound(int f) {
    return firstTask[f] + s.rounds[f].rounds();
  }

  /**
   * Which fronts have DROP tasks, and where these may write: two fronts share a VT slot only if one
   * is above the other, and no two drop records overlap.
   */
  private void finishDrops(StageSchedule schedule) {
    int words = 1 + s.fronts;
    for (int f = 0; f < s.fronts; f++) {
      boolean tiled = s.rounds[f] != null && s.fm[f] >= s.fp[f] && !s.keepQ;
      boolean place = s.fm[f] >= s.fn[f] || s.parent[f] >= 0 && drops[s.parent[f]] > 0;
      assertThat(drops[f] > 0)
          .as("%s: front %d drops", name, f)
          .isEqualTo(random.drops && tiled && place);
      if (drops[f] > 0) {
        assertThat(s.dropAt[f]).isEqualTo(words);
        words += (10 + 5 * s.columnTiles(f) + 1) / 2;
        assertThat(dropFrom[f] + s.dropSlots(f)).isLessThanOrEqualTo(schedule.vtSlots());
      }
    }
    assertThat(1 + s.fronts + s.dropWords()).isEqualTo(words);
    for (int f = 0; f < s.fronts; f++) {
      for (int g = f + 1; g < s.fronts; g++) {
        if (drops[f] > 0 && drops[g] > 0 && !above(g, f)) {
          boolean apart =
              dropFrom[f] + s.dropSlots(f) <= dropFrom[g]
                  || dropFrom[g] + s.dropSlots(g) <= dropFrom[f];
          assertThat(apart).as("%s: slots of fronts %d and %d", name, f, g).isTrue();
        }
      }
    }
  }

  private boolean above(int g, int f) {
    int up = f;
    while (up >= 0 && up != g) {
      up = s.parent[up];
    }
    return up == g;
  }

  private void smallFront(int r, Task.SmallFront t) {
    int f = t.front();
    assertThat(firstTask[f]).as("%s: front %d once", name, f).isEqualTo(Integer.MAX_VALUE);
    firstTask[f] = r;
    assertThat(t.assembleS()).isEqualTo(s.sStart[f + 1] > s.sStart[f]);
    scattered[f] = s.sStart[f + 1];
    assertThat(t.packAssemble()).isEqualTo(s.parent[f] >= 0);
    assertThat(t.rows()).isEqualTo(s.outRows[f]);
    if (s.parent[f] >= 0) {
      passed(r, f, s.parent[f]);
    }
  }

  private void passed(int r, int f, int parent) {
    assertThat(parent).isEqualTo(s.parent[f]);
    lastInput[parent] = Math.max(lastInput[parent], r);
  }

  private void count(String what, int rowFrom, int rowTo, int columnFrom, int columnTo) {
    for (int i = rowFrom; i < rowTo; i++) {
      for (int j = Math.max(i, columnFrom); j < columnTo; j++) {
        assertThat(moved.put(what + " " + i + " " + j, 1)).as("%s: %s twice", name, what).isNull();
      }
      moved.merge(what, Math.max(0, columnTo - Math.max(i, columnFrom)), Integer::sum);
    }
  }

  private void markPacked(int r, int f, int from, int to) {
    for (int i = from; i < to; i++) {
      int tile = i / TaskLayout.TILE;
      packedAt[f][tile] = Math.min(packedAt[f][tile], r);
      for (int c = 0; c < seen[f][tile].length; c++) {
        assertThat(seen[f][tile][c])
            .as("%s: front %d, row %d is final in round %d", name, f, i, r)
            .isEqualTo(history[f][tile].size());
      }
    }
  }

  private void finish(StageSchedule schedule) {
    finishDrops(schedule);
    kept.forEach(
        (slot, b) ->
            assertThat(slot)
                .as("%s: slots of front %d", name, b.front())
                .isBetween(schedule.firstSlot(b.front()), schedule.firstSlot(b.front() + 1) - 1));
    assertThat(s.keepQ ? kept.size() : schedule.vtSlots()).isEqualTo(schedule.vtSlots());
    for (int f = 0; f < s.fronts; f++) {
      assertThat(scattered[f]).as("%s: S of front %d", name, f).isEqualTo(s.sStart[f + 1]);
      assertThat(firstTask[f])
          .as("%s: front %d after its input", name, f)
          .isGreaterThan(lastInput[f]);
      assertThat(firstTask[f]).isEqualTo(schedule.firstRound(f));
      if (s.rounds[f] != null) {
        finishTiled(f);
      }
    }
    for (int b = 0; b < s.blocks; b++) {
      assertThat(moved.getOrDefault("block " + b, 0))
          .isEqualTo(trapezoid(s.blockCm[b], s.blockCn[b] + s.rhs));
    }
  }

  private static int trapezoid(int rows, int columns) {
    return rows * columns - rows * (rows - 1) / 2;
  }

  private void finishTiled(int f) {
    for (int c = 0; c < finals[f].length; c++) {
      assertThat(finals[f][c]).as("%s: front %d, column tile %d is final", name, f, c).isOne();
      for (int i = 0; i < history[f].length; i++) {
        assertThat(annihilated[f][i][c])
            .as("%s: front %d, tile (%d, %d) annihilated", name, f, i, c)
            .isEqualTo(i > c && random.left[f][i] <= c ? 1 : 0);
      }
    }
    for (int i = 0; i < history[f].length; i++) {
      for (int c = 0; c < s.columnTiles(f); c++) {
        assertThat(seen[f][i][c]).as("%s: all applied", name).isEqualTo(history[f][i].size());
      }
    }
    for (int i = 0; i < s.outRows[f]; i++) {
      assertThat(moved).containsEntry("out " + f + " " + i, 1);
    }
    assertThat(moved.getOrDefault("residual " + f, 0))
        .isEqualTo(s.rhs == 0 ? 0 : Math.max(0, s.fm[f] - s.fn[f]));
    assertThat(moved.getOrDefault("pack " + f, 0))
        .isEqualTo(s.parent[f] < 0 ? 0 : trapezoid(s.cm[f], s.fn[f] - s.fp[f] + s.rhs));
  }
}
