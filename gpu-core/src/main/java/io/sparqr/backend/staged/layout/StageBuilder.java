/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.SparseScheduler;
import io.sparqr.backend.schedule.StageFronts;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.assembly.FrontLayout;
import io.sparqr.numeric.assembly.FrontLayout.EmptyRows;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.integrity.Steps;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Parallel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Builds the layout of a stage: places in the arena, the order of each front's rows, the maps, the
 * places of the S entries, the bucket schedules.
 *
 * <p>{@link FrontLayout} gives the places of a front's inputs, whether a child is in the stage or
 * arrives as a block; so another cut into stages changes no bit.
 *
 * <p>Cost: O(entries + map entries + columns of all fronts + operations), in parallel over fronts.
 */
public final class StageBuilder {

  private static final int ALIGN = TaskLayout.TILE;

  /** Fronts at the top of the tree that are laid out one at a time. */
  private static final int FRONTS_ALONE = 256;

  /** Other fronts that a thread lays out at a time. */
  private static final int FRONTS_TOGETHER = 8;

  private final SymbolicAnalysis analysis;
  private final RowsByFront rows;
  private final SchedulerOptions options;
  private final int threads;
  private final boolean detect;
  private final boolean keepQ;

  /** size nf; number of a front in the stage under construction, or -1. */
  private final int[] stageIndex;

  /** One per thread. */
  private final FrontLayout[] layouts;

  /**
   * A builder for one subtree task.
   *
   * @param detect whether dead pivots are detected: then a front with fewer rows than pivots is
   *     known to be unsound
   * @param keepQ whether Q is wanted after the rounds
   */
  public StageBuilder(
      SymbolicAnalysis analysis,
      RowsByFront rows,
      SchedulerOptions options,
      int threads,
      boolean detect,
      boolean keepQ) {
    this.analysis = analysis;
    this.rows = rows;
    this.options = options;
    this.threads = threads;
    this.detect = detect;
    this.keepQ = keepQ;
    stageIndex = new int[analysis.fronts()];
    Arrays.fill(stageIndex, -1);
    layouts = new FrontLayout[threads];
  }

  /** Arrays of the stage under construction. */
  private static final class Draft {
    final int[] id;
    final List<BlockShape> blocks;
    final StageFronts s;
    final long[] data;
    final long[] rowMap;
    final long[] columnMap;
    final long[] blockData;
    int[] blockOf;
    int[] maps;
    EntryPlaces entries;
    StageSchedule schedule;
    StageColumns columns;

    @SuppressWarnings("NullAway.Init") // made step by step
    Draft(int[] id, List<BlockShape> blocks, int rhs, boolean keepQ) {
      this.id = id;
      this.blocks = blocks;
      s = new StageFronts(id.length, blocks.size(), rhs, keepQ);
      data = new long[id.length + 1];
      rowMap = new long[id.length + blocks.size()];
      columnMap = new long[id.length + blocks.size()];
      blockData = new long[blocks.size() + 1];
    }
  }

  /**
   * Builds a stage.
   *
   * @param fronts ascending; every child of one of them is also among them, or done
   * @param blocks the nonempty contribution blocks of the done children of these fronts, ascending
   *     by front
   */
  public StageProgram build(int[] fronts, List<BlockShape> blocks) {
    var d = new Draft(fronts, blocks, rows.rows().rhsCount(), keepQ);
    for (int f = 0; f < fronts.length; f++) {
      stageIndex[fronts[f]] = f;
    }
    try {
      sizes(d);
      layFrontsOut(d);
      if (detect) {
        d.s.planDrops();
      }
      return finish(d);
    } finally {
      for (int f : fronts) {
        stageIndex[f] = -1;
      }
    }
  }

  /**
   * The fronts at the top of the tree first, each on its own: they are the largest, and a thread
   * that took one of them last would keep the others waiting.
   */
  private void layFrontsOut(Draft d) {
    int fronts = d.id.length;
    int alone = Math.min(fronts, FRONTS_ALONE);
    int groups = (fronts - alone + FRONTS_TOGETHER - 1) / FRONTS_TOGETHER;
    Parallel.loop(
        alone + groups,
        1,
        threads,
        (from, to, t) -> {
          for (int k = from; k < to; k++) {
            int end = fronts - (k < alone ? k : alone + (k - alone) * FRONTS_TOGETHER);
            int begin = k < alone ? end - 1 : Math.max(0, end - FRONTS_TOGETHER);
            for (int f = begin; f < end; f++) {
              layFrontOut(d, f, layout(t));
            }
          }
        });
  }

  private FrontLayout layout(int thread) {
    if (layouts[thread] == null) {
      // Fronts of task lists have no rows outside of their staircase.
      layouts[thread] = new FrontLayout(analysis, rows, EmptyRows.LAST_COLUMN);
    }
    return layouts[thread];
  }

  /** Sets sizes, links, and places in arena, maps, S and output: children before parents. */
  private void sizes(Draft d) {
    StageFronts s = d.s;
    int fronts = d.id.length;
    int blocks = d.blocks.size();
    long[] fm = new long[fronts];
    d.blockOf = new int[analysis.fronts()];
    for (int b = 0; b < blocks; b++) {
      BlockShape block = d.blocks.get(b);
      int parent = stageIndex[analysis.parent(block.front())];
      s.block(b, parent, block.cm(), block.cn());
      fm[parent] += block.cm();
      d.blockOf[block.front()] = b + 1;
      d.blockData[b + 1] = d.blockData[b] + block.doubles();
    }
    long mapEnd = 0;
    for (int f = 0; f < fronts; f++) {
      int g = d.id[f];
      int p = analysis.parent(g);
      int parent = p < 0 ? -1 : stageIndex[p];
      fm[f] += rows.count(g);
      int count = checked(fm[f], "rows of a front", Integer.MAX_VALUE);
      s.front(f, count, analysis.fn(g), analysis.fp(g), parent, rows.entries(g));
      if (parent >= 0) {
        fm[parent] += s.passed(f);
      }
      long out = s.firstOutput(f + 1) - s.firstOutput(f);
      checked(out, "entries of a front's R", Integer.MAX_VALUE - 8);
      d.rowMap[f] = mapEnd;
      d.columnMap[f] = mapEnd + s.passed(f);
      mapEnd += parent < 0 ? 0 : s.passed(f) + analysis.cn(g) + s.rhs();
    }
    for (int b = 0; b < blocks; b++) {
      BlockShape block = d.blocks.get(b);
      d.rowMap[fronts + b] = mapEnd;
      d.columnMap[fronts + b] = mapEnd + block.cm();
      mapEnd += block.cm() + block.cn() + s.rhs();
    }
    int mapLength = checked(mapEnd, "maps of a stage", Integer.MAX_VALUE - 8);
    int entries = checked(s.firstEntry(fronts), "entries of a stage", Integer.MAX_VALUE - 8);
    // The JVM zeroes an array on the thread that allocates it.
    beside(
        () -> d.maps = new int[mapLength],
        () -> d.entries = new EntryPlaces(s, d.id, rows, entries, threads, keepQ));
  }

  private static int checked(long value, String what, long limit) {
    if (value > limit) {
      throw new IndexOverflowException(what + ": " + value + " is too many", what, value);
    }
    return (int) value;
  }

  /**
   * Orders the front's rows, fills its children's maps and its S places, and schedules its rounds.
   */
  private void layFrontOut(Draft d, int f, FrontLayout layout) {
    StageFronts s = d.s;
    int g = d.id[f];
    layout.begin(g);
    for (int k = 0; k < analysis.childCount(g); k++) {
      int source = source(d, analysis.child(g, k));
      if (source >= 0) {
        layout.addChild(analysis.child(g, k), rowsOf(d, source));
      }
    }
    layout.sort();
    int[] stair = layout.stair();
    if (analysis.fn(g) > 0 && stair[analysis.fn(g) - 1] < s.rows(f)) {
      // Otherwise the counts that the device sent back for earlier stages have changed.
      throw new IntegrityFailure(
          "front %d has %d rows, of which %d have a leftmost column"
              .formatted(g, s.rows(f), stair[analysis.fn(g) - 1]));
    }
    s.makeRounds(f, stair, options);
    long ld = s.leadingDimension(f);
    long height = s.height(f);
    if (ld * height > StageEstimate.MOST_ENTRIES) {
      throw new IndexOverflowException(
          "front " + g + ": " + height + " x " + ld + " exceeds 2^32 entries",
          "front",
          ld * height);
    }
    d.entries.place(f, layout);
    for (int c = 0; c < layout.children(); c++) {
      fillMaps(d, f, layout, c);
    }
  }

  /**
   * Descriptor number of child c: a front of the stage, a block, or -1 if it contributes nothing.
   */
  private int source(Draft d, int c) {
    if (stageIndex[c] >= 0) {
      return stageIndex[c];
    }
    return d.blockOf[c] > 0 ? d.id.length + d.blockOf[c] - 1 : -1;
  }

  private static int rowsOf(Draft d, int source) {
    return source < d.id.length ? d.s.passed(source) : d.s.passedByBlock(source - d.id.length);
  }

  /**
   * Fills Rjmap of the front's child c, followed by the right-hand sides' columns, and its row map.
   */
  private void fillMaps(Draft d, int f, FrontLayout layout, int c) {
    int source = source(d, layout.child(c));
    int from = layout.columnStart(c);
    int cn = layout.columnStart(c + 1) - from;
    int to = (int) d.columnMap[source];
    System.arraycopy(layout.columns(), from, d.maps, to, cn);
    for (int j = 0; j < d.s.rhs(); j++) {
      d.maps[to + cn + j] = d.s.columns(f) + j;
    }
    int first = layout.childRow(c);
    int cm = layout.childRow(c + 1) - first;
    System.arraycopy(layout.destination(), first, d.maps, (int) d.rowMap[source], cm);
  }

  private StageProgram finish(Draft d) {
    StageFronts s = d.s;
    int fronts = d.id.length;
    int blocks = d.blocks.size();
    int[] initial = new int[fronts];
    long[] outStart = new long[fronts + 1];
    long probes = 0;
    for (int f = 0; f < fronts; f++) {
      // Leftover rows use one row tile after the last, then the space of V.
      long height = s.height(f) + (s.drop(f) > 0 ? TaskLayout.TILE : 0);
      long doubles = s.leadingDimension(f) * height;
      d.data[f + 1] = d.data[f] + (doubles + ALIGN - 1) / ALIGN * ALIGN;
      boolean dead = detect && s.rows(f) < s.pivots(f);
      initial[f] = dead ? TaskLayout.STATE_DEAD : TaskLayout.STATE_SOUND;
      outStart[f + 1] = s.firstOutput(f + 1);
      probes += s.rows(f);
    }
    ByteBuffer encoded =
        ByteBuffer.allocateDirect(Math.multiplyExact(fronts + blocks, TaskLayout.FRONT_BYTES))
            .order(ByteOrder.LITTLE_ENDIAN);
    FrontDescriptor[] descriptors = descriptors(d, encoded);
    beside(
        () -> d.schedule = SparseScheduler.schedule(s, options, threads),
        () -> d.columns = columns(d));
    StageSchedule schedule = d.schedule;
    return new StageProgram(
        new StageProgram.Counts(
            fronts, blocks, s.rhs(), schedule.residualSlots(), s.dropWords(), probes),
        new StageProgram.Descriptors(encoded, descriptors),
        d.maps,
        new StageProgram.Entries(d.entries.index(), d.entries.bits(), d.entries.ownRows()),
        initial,
        new StageProgram.Memory(d.data[fronts], d.blockData[blocks], outStart),
        schedule,
        d.columns);
  }

  private StageColumns columns(Draft d) {
    int[] blocks = d.blocks.stream().mapToInt(BlockShape::front).toArray();
    return StageColumns.of(analysis, d.id, blocks, steps(d.s), threads);
  }

  /** Runs two independent steps, if possible side by side. */
  private void beside(Runnable first, Runnable second) {
    Parallel.loop(2, 1, threads, (from, to, t) -> (from == 0 ? first : second).run());
  }

  /** The descriptors of fronts and blocks, which are also written to {@code encoded}. */
  private FrontDescriptor[] descriptors(Draft d, ByteBuffer encoded) {
    int fronts = d.id.length;
    var all = new FrontDescriptor[fronts + d.blocks.size()];
    Parallel.loop(
        all.length,
        1024,
        threads,
        (from, to, t) -> {
          for (int k = from; k < to; k++) {
            all[k] = k < fronts ? frontDescriptor(d, k) : blockDescriptor(d, k - fronts);
            all[k].encode(encoded, k);
          }
        });
    return all;
  }

  /** The largest number of reflectors that a column passes through on a path of the stage. */
  private static long steps(StageFronts s) {
    long[] below = new long[s.fronts()];
    long most = 0;
    for (int f = 0; f < below.length; f++) {
      below[f] += Steps.ofFront(s.rows(f), s.columns(f));
      most = Math.max(most, below[f]);
      if (s.parent(f) >= 0) {
        below[s.parent(f)] = Math.max(below[s.parent(f)], below[f]);
      }
    }
    return most;
  }

  private static FrontDescriptor frontDescriptor(Draft d, int f) {
    StageFronts s = d.s;
    return new FrontDescriptor(
        new FrontDescriptor.Places(
            d.data[f], 0, s.firstEntry(f), s.firstEntry(f + 1), d.rowMap[f], d.columnMap[f]),
        new FrontDescriptor.Shape(
            s.leadingDimension(f),
            s.rows(f),
            s.columns(f),
            s.pivots(f),
            s.rhs(),
            s.passed(f),
            s.rowTiles(f),
            s.columnTiles(f)),
        s.parent(f),
        d.id[f],
        s.drop(f));
  }

  private FrontDescriptor blockDescriptor(Draft d, int k) {
    BlockShape block = d.blocks.get(k);
    int rhs = d.s.rhs();
    int number = d.id.length + k;
    return new FrontDescriptor(
        new FrontDescriptor.Places(
            d.blockData[k],
            d.blockData[k] + block.values(),
            0,
            0,
            d.rowMap[number],
            d.columnMap[number]),
        new FrontDescriptor.Shape(
            0, block.cm(), block.cn(), 0, rhs, block.cm(), 0, TaskLayout.tiles(block.cn() + rhs)),
        stageIndex[analysis.parent(block.front())],
        block.front(),
        0);
  }
}
