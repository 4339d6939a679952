/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * Sizes and links of a stage's fronts, the input of the sparse scheduler. Filled by the builder of
 * the stage, children before parents, then only read.
 */
public final class StageFronts {

  /** Ints of a drop record, and further ints per column tile (drop.cuh). */
  private static final int DROP_HEAD = 10;

  private static final int DROP_PER_TILE = 5;

  final int fronts;
  final int blocks;
  final int rhs;

  /** Whether each VT slot is written only once, so that Q can be read after the rounds. */
  final boolean keepQ;

  /** size fronts each: rows, columns, pivot columns, contribution rows. */
  final int[] fm;

  final int[] fn;
  final int[] fp;
  final int[] cm;

  /** size fronts; receiving front of the stage, or -1. */
  final int[] parent;

  /**
   * size fronts; rows in the output buffer: those of R, then those of a block that leaves the
   * stage.
   */
  final int[] outRows;

  /** size fronts + 1; first output double of each front. */
  final long[] outStart;

  /** size fronts + 1; first S entry of each front. */
  final long[] sStart;

  /** size fronts; the rounds of each tiled front, null for a small one. */
  final FrontSchedule[] rounds;

  /** size fronts; place of a front's drop record after the counts, in words; 0: none. */
  final int[] dropAt;

  private int dropWords;

  /** size blocks each: receiving front, rows, columns. */
  final int[] blockParent;

  final int[] blockCm;
  final int[] blockCn;

  /**
   * A stage without sizes yet.
   *
   * @param blocks contribution blocks from outside
   * @param rhs right-hand sides
   * @param keepQ whether Q is wanted after the rounds
   */
  public StageFronts(int fronts, int blocks, int rhs, boolean keepQ) {
    this.fronts = fronts;
    this.blocks = blocks;
    this.rhs = rhs;
    this.keepQ = keepQ;
    fm = new int[fronts];
    fn = new int[fronts];
    fp = new int[fronts];
    cm = new int[fronts];
    parent = new int[fronts];
    outRows = new int[fronts];
    outStart = new long[fronts + 1];
    sStart = new long[fronts + 1];
    rounds = new FrontSchedule[fronts];
    dropAt = new int[fronts];
    blockParent = new int[blocks];
    blockCm = new int[blocks];
    blockCn = new int[blocks];
  }

  /** Contribution rows at full rank of a front with this many rows, columns and pivots. */
  public static int contributionRows(long fm, int fn, int fp) {
    return (int) Math.max(0, Math.min(fm, fn) - fp);
  }

  /**
   * Sets front f, after all earlier fronts. Its contribution block goes to its parent, or to the
   * output after the rows of R.
   *
   * @param rows at full rank
   * @param columns without right-hand sides
   * @param receiver front of the stage that takes the block, or -1
   * @param entries S entries of its rows of A, right-hand sides included
   */
  public void front(int f, int rows, int columns, int pivots, int receiver, long entries) {
    fm[f] = rows;
    fn[f] = columns;
    fp[f] = pivots;
    cm[f] = contributionRows(rows, columns, pivots);
    parent[f] = receiver;
    outRows[f] = Math.min(rows, pivots) + (receiver < 0 ? cm[f] : 0);
    long r = outRows[f];
    outStart[f + 1] = outStart[f] + r * columns - r * (r - 1) / 2 + r * rhs;
    sStart[f + 1] = sStart[f] + entries;
  }

  /** Sets block b from outside: its receiving front, rows, columns. */
  public void block(int b, int receiver, int rows, int columns) {
    blockParent[b] = receiver;
    blockCm[b] = rows;
    blockCn[b] = columns;
  }

  /**
   * Schedules the rounds of front f, unless it is a small one. Thread-safe for different fronts.
   *
   * @param stair stair[k] is the number of rows with a leftmost column of at most k; every row has
   *     a leftmost column
   */
  public void makeRounds(int f, int[] stair, SchedulerOptions options) {
    if (fm[f] == 0 || options.small(fm[f], fn[f], rhs)) {
      return;
    }
    int rowTiles = TaskLayout.tiles(fm[f]);
    int[] left = new int[rowTiles];
    int k = 0;
    for (int i = 0; i < rowTiles; i++) {
      while (stair[k] <= i * TaskLayout.TILE) {
        k++;
      }
      left[i] = k / TaskLayout.TILE;
    }
    int pivotTiles = Math.min(rowTiles, TaskLayout.tiles(fn[f]));
    rounds[f] =
        BucketScheduler.schedule(
            left,
            pivotTiles,
            columnTiles(f),
            options.bundles(left, pivotTiles, columnTiles(f)),
            options.pipelining(),
            keepQ);
  }

  /**
   * Chooses the fronts that drop dead columns by DROP tasks, after all rounds are scheduled. A
   * front of fewer rows than columns then has leftover rows, which its parent takes in by its own
   * DROP tasks, so it must have such a parent in the stage. Fronts of fewer rows than pivots and
   * small fronts are excluded, and all fronts if Q is kept.
   */
  public void planDrops() {
    boolean[] drops = new boolean[fronts];
    for (int f = fronts - 1; f >= 0; f--) {
      boolean place = fm[f] >= fn[f] || parent[f] >= 0 && drops[parent[f]];
      drops[f] = !keepQ && rounds[f] != null && fm[f] >= fp[f] && place;
    }
    long words = 0;
    for (int f = 0; f < fronts; f++) {
      if (drops[f]) {
        dropAt[f] = Math.toIntExact(1 + fronts + words);
        words += (DROP_HEAD + (long) DROP_PER_TILE * columnTiles(f) + 1) / 2;
      }
    }
    dropWords = Math.toIntExact(words);
  }

  /**
   * Leftover rows of front f's pivots that may go to its parent before the rest of the front has
   * taken them in; 0: none. That spares the front a chain of steps through all of its columns, and
   * its parent the wait for it, but the leftover rows then go through the pivots of all fronts
   * above: so only where these are at most twice as many columns. All children together fill at
   * most half of the parent's place for leftover rows, which holds half as many as it has columns.
   */
  int dropMost(int f) {
    int p = parent[f];
    if (dropAt[f] == 0 || p < 0 || dropAt[p] == 0) {
      return 0;
    }
    int rest = columnTiles(f) - TaskLayout.tiles(fp[f]);
    int above = 0;
    for (int a = p; a >= 0 && above <= 2 * rest; a = parent[a]) {
      above += TaskLayout.tiles(fp[a]);
    }
    return above > 2 * rest ? 0 : (int) ((long) fn[p] / 4 * cm[f] / fm[p]);
  }

  /**
   * Whether no leftover row of front f goes to its parent: those of its dead columns and of its
   * children end in its own DROP tasks.
   */
  boolean dropsAlone(int f) {
    return dropAt[f] > 0 && fm[f] >= fn[f] && dropMost(f) == 0;
  }

  /** Words of 8 bytes of the drop records after the counts. */
  public int dropWords() {
    return dropWords;
  }

  /** Place of front f's drop record after the counts, in words; 0: none. */
  public int drop(int f) {
    return dropAt[f];
  }

  /** Whether right-hand sides of leftover rows may end in a front's DROP tasks. */
  boolean dropsRhs(int f) {
    return dropAt[f] > 0 && rhs > 0 && fm[f] >= fn[f];
  }

  /**
   * Number of DROP tasks of front f: as many as its column tiles can keep busy, fewer if other
   * fronts wait.
   */
  int dropWorkers(int f) {
    if (dropAt[f] == 0) {
      return 0;
    }
    int tiles = columnTiles(f);
    return parent[f] < 0 ? Math.min(256, tiles) : Math.min(24, (tiles + 1) / 2);
  }

  /**
   * VT slots of the DROP tasks: for two column tiles, one slot per bundle of up to three row tiles,
   * plus one.
   */
  int dropSlots(int f) {
    return dropAt[f] == 0 ? 0 : 2 * ((columnTiles(f) + 2) / 3 + 1);
  }

  /** Fronts of the stage. */
  public int fronts() {
    return fronts;
  }

  /** Right-hand sides. */
  public int rhs() {
    return rhs;
  }

  /** Rows of front f at full rank. */
  public int rows(int f) {
    return fm[f];
  }

  /** Columns of front f, without right-hand sides. */
  public int columns(int f) {
    return fn[f];
  }

  /** Pivot columns of front f. */
  public int pivots(int f) {
    return fp[f];
  }

  /** Contribution rows of front f at full rank. */
  public int passed(int f) {
    return cm[f];
  }

  /** Contribution rows of block b. */
  public int passedByBlock(int b) {
    return blockCm[b];
  }

  /** Front of the stage that takes the block of front f, or -1. */
  public int parent(int f) {
    return parent[f];
  }

  /** First S entry of front f; for f = fronts(), the end. */
  public long firstEntry(int f) {
    return sStart[f];
  }

  /** First output double of front f; for f = fronts(), the end. */
  public long firstOutput(int f) {
    return outStart[f];
  }

  /** Row tiles of front f; 0 for a small one. */
  public int rowTiles(int f) {
    return rounds[f] == null ? 0 : rounds[f].rowTiles;
  }

  /** Rows of front f in the arena. */
  public long height(int f) {
    return rounds[f] == null ? fm[f] : (long) TaskLayout.TILE * rounds[f].rowTiles;
  }

  /** Distance between rows of front f, in doubles. */
  public int leadingDimension(int f) {
    return rounds[f] == null
        ? SchedulerOptions.smallLd(fn[f], rhs)
        : columnTiles(f) * TaskLayout.TILE;
  }

  /** First row of front f after R and the contribution block. */
  int tailRow(int f) {
    return Math.min(fm[f], fn[f]);
  }

  /** Place of row i of front f in its packed values: rows of fn - i values. */
  long packedRow(int f, int i) {
    return outStart[f] + FrontDescriptor.packedValues(i, fn[f]);
  }

  /** Place of the right-hand sides of row i of front f in the output buffer. */
  long packedRhs(int f, int i) {
    return packedRow(f, outRows[f]) + (long) i * rhs;
  }

  /** Column tiles of front f, right-hand sides included. */
  public int columnTiles(int f) {
    return TaskLayout.tiles(fn[f] + rhs);
  }
}
