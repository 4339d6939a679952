/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.FrontSchedule;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorList;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * Downloads Q of a stage's fronts after its rounds: every tile below the diagonal is annihilated
 * once, so V of each bundle is still in place, and a stage that keeps Q has a separate VT slot for
 * each bundle. The bundles in the order of the rounds are the blocks of reflectors.
 */
final class ReflectorFetch {

  /** Approximate doubles read at a time. */
  private static final long GROUP_DOUBLES = 1 << 23;

  private static final int TILE = TaskLayout.TILE;

  private final RoundExecutor executor;
  private final StageProgram program;
  private final int threads;
  private final long groupDoubles;
  private final FrontReflectors[] result;

  /** By front: the fronts and blocks of the stage that contribute rows to it. */
  private final List<List<FrontDescriptor>> sources = new ArrayList<>();

  private long doubles;

  ReflectorFetch(RoundExecutor executor, StageProgram program, int threads) {
    this(executor, program, threads, GROUP_DOUBLES);
  }

  /** For tests: with groups of at most this many doubles, unless a single front has more. */
  ReflectorFetch(RoundExecutor executor, StageProgram program, int threads, long groupDoubles) {
    this.groupDoubles = groupDoubles;
    this.executor = executor;
    this.program = program;
    this.threads = threads;
    result = new FrontReflectors[program.fronts()];
    for (int f = 0; f < program.fronts(); f++) {
      sources.add(new ArrayList<>());
    }
    for (int s = 0; s < program.fronts() + program.blocks(); s++) {
      FrontDescriptor d = program.descriptor(s);
      if (d.parent() >= 0 && d.cm() > 0) {
        sources.get(d.parent()).add(d);
      }
    }
    sources.forEach(list -> list.sort(java.util.Comparator.comparingInt(FrontDescriptor::id)));
  }

  /** Doubles downloaded so far. */
  long doubles() {
    return doubles;
  }

  /**
   * Q of some fronts of the stage, null for the others, assuming that no pivot is dead: the rows of
   * R are the first min(fm, fp), followed by those of the contribution block.
   */
  FrontReflectors[] run(BitSet wanted) {
    // Groups end at fronts that are not wanted: their tasks did nothing, and their slots are empty.
    int from = wanted.nextSetBit(0);
    while (from >= 0) {
      int to = from;
      long length = 0;
      do {
        length += program.descriptor(to).doubles();
        to++;
      } while (wanted.get(to) && length + program.descriptor(to).doubles() <= groupDoubles);
      group(from, to);
      from = wanted.nextSetBit(to);
    }
    return result;
  }

  private void group(int from, int to) {
    StageSchedule schedule = program.schedule();
    FrontDescriptor last = program.descriptor(to - 1);
    long start = program.descriptor(from).data();
    double[] data = read(RoundExecutor.Region.ARENA, start, last.data() + last.doubles(), last);
    long slot = schedule.firstSlot(from);
    long slotEnd = schedule.firstSlot(to);
    double[] vt =
        read(
            RoundExecutor.Region.VT,
            slot * TaskLayout.VT_DOUBLES,
            slotEnd * TaskLayout.VT_DOUBLES,
            last);
    Parallel.loop(
        to - from,
        1,
        threads,
        (lo, hi, t) -> {
          for (int f = from + lo; f < from + hi; f++) {
            int at = (int) (program.descriptor(f).data() - start);
            int first = (int) (schedule.firstSlot(f) - slot) * TaskLayout.VT_DOUBLES;
            result[f] = front(f, data, at, vt, first);
          }
        });
  }

  private double[] read(RoundExecutor.Region region, long from, long to, FrontDescriptor front) {
    if (to - from > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "front " + front.id() + ": Q of " + (to - from) + " entries exceeds an array",
          "front",
          to - from);
    }
    double[] values = new double[(int) (to - from)];
    executor.read(region, from, values);
    doubles += values.length;
    return values;
  }

  private FrontReflectors front(int f, double[] data, int at, double[] vt, int vtAt) {
    FrontDescriptor d = program.descriptor(f);
    int r = Math.min(d.fm(), d.fp());
    int[] live = new int[r];
    boolean[] negative = new boolean[r];
    for (int i = 0; i < r; i++) {
      live[i] = i;
      negative[i] = data[at + i * d.ld() + i] < 0;
    }
    int[] rows = new int[r + d.cm()];
    Arrays.setAll(rows, i -> i);
    List<FrontDescriptor> from = sources.get(f);
    int[] child = new int[from.size()];
    int[] childStart = new int[child.length + 1];
    for (int c = 0; c < child.length; c++) {
      child[c] = from.get(c).id();
      childStart[c + 1] = childStart[c] + from.get(c).cm();
    }
    int[] childRow = new int[childStart[child.length]];
    for (int c = 0; c < child.length; c++) {
      int map = (int) from.get(c).rowMap();
      System.arraycopy(program.maps(), map, childRow, childStart[c], from.get(c).cm());
    }
    return new FrontReflectors(
        d.id(),
        d.fm(),
        Objects.requireNonNull(program.ownRows())[f],
        new FrontReflectors.ChildRows(child, childStart, childRow),
        live,
        negative,
        rows,
        blocks(f, d, data, at, vt, vtAt));
  }

  private List<ReflectorBlock> blocks(
      int f, FrontDescriptor d, double[] data, int at, double[] vt, int vtAt) {
    var blocks = new ArrayList<ReflectorBlock>();
    FrontSchedule s = program.schedule().frontSchedule(f);
    int base = vtAt;
    for (int round = 0; s != null && round < s.rounds(); round++) {
      for (int op = s.opStart(round); op < s.opStart(round + 1); op = s.next(op)) {
        if (s.factorized(op) >= 0) {
          int slot = base + s.writeSlot(op) * TaskLayout.VT_DOUBLES;
          blocks.add(bundle(s, op, d, data, at, vt, slot));
        }
      }
      base += s.writes(round) * TaskLayout.VT_DOUBLES;
    }
    return blocks;
  }

  /**
   * The reflectors of one bundle: V's first tile and tau are in the slot, the other tiles in place.
   */
  private static ReflectorBlock bundle(
      FrontSchedule s, int op, FrontDescriptor d, double[] data, int at, double[] vt, int slot) {
    int column = s.factorized(op) * TILE;
    int first = s.bundleFrom(op);
    int[] segments = new int[2 * (s.size(op) - first)];
    int rows = 0;
    for (int k = 0; k < segments.length; k += 2) {
      segments[k] = s.tile(op, first + k / 2) * TILE;
      segments[k + 1] = Math.min(TILE, d.fm() - segments[k]);
      rows += segments[k + 1];
    }
    var list = new ReflectorList();
    double[] v = new double[rows];
    int width = Math.min(TILE, d.fn() - column);
    for (int j = 0; j < Math.min(width, rows); j++) {
      double tau = vt[slot + TILE * TILE + j * TILE + j];
      if (tau == 0) {
        continue;
      }
      for (int i = j + 1; i < rows; i++) {
        v[i] =
            i < TILE
                ? vt[slot + i * TILE + j]
                : data[at + (segments[i / TILE * 2] + i % TILE) * d.ld() + column + j];
      }
      int end = rows;
      while (end > j + 1 && v[end - 1] == 0) {
        end--;
      }
      list.add(j, end - j, tau);
      for (int i = j + 1; i < end; i++) {
        list.value(v[i]);
      }
    }
    return list.block(segments);
  }
}
