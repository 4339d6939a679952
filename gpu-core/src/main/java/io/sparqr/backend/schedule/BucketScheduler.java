/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.util.Arrays;

/**
 * The bucket scheduler of one dense front (SQR section 3.1): row tile i starts in the column bucket
 * of its leftmost nonzero column tile; bundles of up to B row tiles of one bucket are factorized,
 * which leaves the first row tile triangular and moves the others to the next bucket, until every
 * bucket c holds one triangular row tile, row tile c.
 *
 * <p>Invariants. A bundle's first row tile is its lowest, and a row tile i enters at bucket i at
 * the latest (zero tiles on the diagonal count as full), so bucket c ends with row tile c and R is
 * upper trapezoidal for any staircase. A bundle factorized in round r is applied in round r + 1, to
 * all columns at once, so its VT slot is free when the tasks of that round are done: not before
 * round r + 3, since Factorize tasks run a round ahead ({@link VtSlots}).
 *
 * <p>Greedy: every tile that can be factorized is, and growing a bundle comes before starting
 * another, because each bundle annihilates one tile less than it has. With pipelining, a bundle
 * that advances is factorized in its new column by the same task that applies to that column, grown
 * by idle row tiles of the new bucket.
 *
 * <p>Cost: O(operations + rounds x active columns); purely symbolic and deterministic.
 */
public final class BucketScheduler {

  private final FrontSchedule out;
  private final int[] bundle;
  private final boolean pipelining;
  private final boolean keepQ;
  private final int pivotTiles;
  private final int columnTiles;

  /** Row tiles of bucket c outside of bundles: FIFO lists linked by {@code next}. */
  private final int[] head;

  private final int[] tail;
  private final int[] count;
  private final int[] next;

  /**
   * Row tiles that bucket c has or will get, minus those annihilated; at 1 only the final row tile
   * is left.
   */
  private final int[] remaining;

  private final boolean[] triangular;
  private final int[] tile = new int[TaskLayout.MAX_BUNDLE + 1];
  private final int[] arriving;
  private int arrivals;
  private int slots;
  private int unfinished;

  private BucketScheduler(
      int[] left,
      int pivotTiles,
      int columnTiles,
      int[] bundle,
      boolean pipelining,
      boolean keepQ) {
    this.bundle = bundle;
    this.pipelining = pipelining;
    this.keepQ = keepQ;
    this.pivotTiles = pivotTiles;
    this.columnTiles = columnTiles;
    int rowTiles = left.length;
    out = new FrontSchedule(rowTiles, pivotTiles, columnTiles);
    head = new int[pivotTiles];
    tail = new int[pivotTiles];
    count = new int[pivotTiles];
    remaining = new int[pivotTiles];
    next = new int[rowTiles];
    triangular = new boolean[rowTiles];
    arriving = new int[2 * rowTiles];
    int last = 0;
    for (int i = 0; i < rowTiles; i++) {
      int c = Math.min(left[i], i);
      if (c < last && left[i] < last) {
        throw new IllegalArgumentException(
            "leftmost column tile of row tile " + i + " is less than that of the one above it");
      }
      last = c;
      if (c < pivotTiles) {
        push(c, i);
        remaining[c]++;
      }
    }
    int sum = 0;
    for (int c = 0; c < pivotTiles; c++) {
      sum += remaining[c];
      remaining[c] = sum;
      sum--;
    }
    unfinished = pivotTiles;
  }

  /**
   * Builds the rounds of a front.
   *
   * @param left size row tiles; ascending: leftmost nonzero column tile of each row tile
   * @param pivotTiles column tiles to be made upper trapezoidal, at most the row tiles; further
   *     column tiles are only updated
   * @param columnTiles all column tiles
   * @param bundle size pivotTiles; B, 2 .. 8: largest size of a bundle in a column tile
   * @param pipelining whether to make Apply/Factorize tasks
   * @param keepQ whether bundles of the last column tile have VT slots too
   */
  public static FrontSchedule schedule(
      int[] left,
      int pivotTiles,
      int columnTiles,
      int[] bundle,
      boolean pipelining,
      boolean keepQ) {
    if (pivotTiles > left.length || pivotTiles > columnTiles) {
      throw new IllegalArgumentException(
          pivotTiles + " pivot tiles of " + left.length + " x " + columnTiles + " tiles");
    }
    var s = new BucketScheduler(left, pivotTiles, columnTiles, bundle, pipelining, keepQ);
    s.run();
    return s.out;
  }

  /** A copy with bundles of up to B in every column tile. */
  public static FrontSchedule schedule(
      int[] left, int pivotTiles, int columnTiles, int bundle, boolean pipelining) {
    int[] everywhere = new int[Math.max(0, pivotTiles)];
    Arrays.fill(everywhere, bundle);
    return schedule(left, pivotTiles, columnTiles, everywhere, pipelining, false);
  }

  private void run() {
    int from = 0;
    int lo = 0;
    boolean work = pivotTiles > 0;
    while (work) {
      int end = out.length();
      slots = 0;
      arrivals = 0;
      releaseLeads(from, end);
      while (lo < pivotTiles && out.doneRound[lo] >= 0) {
        lo++;
      }
      advanceAndBundle(from, end, lo);
      for (int k = 0; k < arrivals; k += 2) {
        push(arriving[k], arriving[k + 1]);
      }
      from = end;
      work = out.length() > end;
      if (work) {
        out.endRound(slots);
      }
    }
    if (unfinished != 0) {
      throw new IllegalStateException(unfinished + " column tiles were never finished");
    }
    out.finish();
  }

  /**
   * First row tiles of the bundles factorized in the last round become idle again, except final
   * ones.
   */
  private void releaseLeads(int from, int end) {
    for (int at = from; at < end; at = out.next(at)) {
      int c = out.factorized(at);
      if (c >= 0 && (out.flags(at) & TaskLayout.FLAG_FINAL) == 0) {
        push(c, out.tile(at, out.bundleFrom(at)));
      }
    }
  }

  /** One sweep over the columns; the last round's operations [at, end) ascend by column. */
  private void advanceAndBundle(int from, int end, int lo) {
    int at = from;
    int c = lo;
    while (c < pivotTiles || at < end) {
      while (at < end && out.nextColumn(at) <= c) {
        if (out.factorized(at) >= 0) {
          advance(at);
        } else if (!pipelining && c < pivotTiles && out.size(at) > 2) {
          keepTogether(at, c);
        }
        at = out.next(at);
      }
      if (c < pivotTiles) {
        bundleIdle(c);
      }
      c++;
    }
  }

  /**
   * Applies a factorized bundle and, with pipelining, factorizes the rest of it in the next column.
   */
  private void advance(int at) {
    if (out.nextColumn(at) >= columnTiles) {
      return;
    }
    int c = out.nextColumn(at);
    int first = out.bundleFrom(at);
    int size = out.size(at) - first;
    for (int s = 0; s < size; s++) {
      tile[s] = out.tile(at, first + s);
    }
    int read = out.writeSlot(at);
    int n = size;
    if (pipelining && c < pivotTiles && size > 1) {
      while (n - 1 < bundle[c] && count[c] > 0) {
        tile[n++] = pop(c);
      }
      boolean last = remaining[c] - (n - 2) == 1;
      if (n > 2 || last) {
        int applied = sortNext(size, n);
        reduced(c, n - 1, last);
        int write = slot(c);
        out.add(
            TaskLayout.APPLY_FACTORIZE,
            c - 1,
            read,
            write,
            applied,
            last ? TaskLayout.FLAG_FINAL : 0,
            tile,
            n);
        return;
      }
    }
    out.add(TaskLayout.APPLY, c - 1, read, -1, 0, 0, tile, size);
    for (int s = 1; s < size; s++) {
      triangular[tile[s]] = false;
    }
    if (c < pivotTiles && size == 2) {
      arriving[arrivals++] = c;
      arriving[arrivals++] = tile[1];
    }
  }

  /** Without pipelining, a bundle applied in the last round is factorized now, without growth. */
  private void keepTogether(int at, int c) {
    int n = out.size(at) - 1;
    for (int s = 0; s < n; s++) {
      tile[s] = out.tile(at, s + 1);
    }
    factorize(c, n);
  }

  /** Sorts tile[1 .. n) and returns a mask of those that came from an index below {@code size}. */
  private int sortNext(int size, int n) {
    int mask = (1 << (size - 1)) - 1;
    for (int i = size; i < n; i++) {
      int t = tile[i];
      int j = i;
      while (j > 1 && tile[j - 1] > t) {
        tile[j] = tile[j - 1];
        j--;
      }
      tile[j] = t;
      // Shifts the bits from place j upwards by one; place j belongs to a delta tile.
      int below = mask & ((1 << (j - 1)) - 1);
      mask = (mask ^ below) << 1 | below;
    }
    return mask;
  }

  private void bundleIdle(int c) {
    while (count[c] > 1 || count[c] == 1 && remaining[c] == 1 && !triangular[head[c]]) {
      int n = 0;
      while (n < bundle[c] && count[c] > 0) {
        tile[n++] = pop(c);
      }
      Arrays.sort(tile, 0, n);
      factorize(c, n);
    }
  }

  private void factorize(int c, int n) {
    boolean last = remaining[c] - (n - 1) == 1;
    reduced(c, n, last);
    int write = slot(c);
    out.add(TaskLayout.FACTORIZE, c, -1, write, 0, last ? TaskLayout.FLAG_FINAL : 0, tile, n);
    triangular[tile[0]] = true;
  }

  private void reduced(int c, int size, boolean last) {
    remaining[c] -= size - 1;
    if (last) {
      unfinished--;
      // Apply tasks of the next round, if any, still write rows of this tile.
      int round = out.rounds();
      out.doneRound[c] = c + 1 < columnTiles ? round + 1 : round;
    }
  }

  private int slot(int c) {
    return keepQ || c + 1 < columnTiles ? slots++ : -1;
  }

  private void push(int c, int i) {
    next[i] = -1;
    if (count[c]++ == 0) {
      head[c] = i;
    } else {
      next[tail[c]] = i;
    }
    tail[c] = i;
  }

  private int pop(int c) {
    int i = head[c];
    head[c] = next[i];
    count[c]--;
    return i;
  }
}
