/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.assembly;

import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.sparse.IndexRanges;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a subtree task grouped by front, in order within each front. Immutable. O(rows +
 * fronts), plus an int for each front skipped if the task's fronts are not consecutive.
 */
public final class RowsByFront {

  /** Rows that are worth a thread. */
  private static final int LEAST_ROWS = 1 << 15;

  /** Numbers compared by a thread at a time. */
  private static final int COMPARED = 1 << 20;

  private final RowBlock rows;
  private final int firstFront;
  private final int frontCount;

  /**
   * Place in the task's list of front firstFront + k, or -1; only if fronts are not consecutive.
   */
  private final int @Nullable [] place;

  private final int[] start;
  private final int[] order;

  /**
   * By row in the fronts' order: number of values in earlier rows of its front, without right-hand
   * sides.
   */
  private final int[] before;

  private final long[] entries;

  /** Distributes the rows to their fronts on one thread. */
  public RowsByFront(SubtreeProblem problem) {
    this(problem, 1);
  }

  /**
   * Groups a task's rows: a counting sort by chunks of the rows, each with counts of its own, so
   * that the order does not depend on the number of threads.
   *
   * @throws IllegalArgumentException if the fronts do not ascend, or a row's front is not among
   *     them
   */
  public RowsByFront(SubtreeProblem problem, int threads) {
    rows = problem.rows();
    frontCount = problem.fronts().length;
    firstFront = frontCount == 0 ? 0 : problem.fronts()[0];
    place = places(problem.fronts());
    int n = rows.rows();
    // All chunks' counts together take no more room than the rows' own.
    int chunks = Math.max(1, Math.min(threads, n / Math.max(frontCount, LEAST_ROWS)));
    var chunk = new Chunk[chunks];
    Parallel.loop(
        chunks,
        1,
        threads,
        (from, to, t) -> {
          chunk[from] = new Chunk((int) ((long) n * from / chunks), (int) ((long) n * to / chunks));
          chunk[from].count();
        });
    start = new int[frontCount + 1];
    entries = new long[frontCount];
    Parallel.loop(frontCount, 1 << 14, threads, (from, to, t) -> addUp(chunk, from, to));
    for (int t = 0; t < frontCount; t++) {
      start[t + 1] += start[t];
    }
    order = new int[n];
    before = new int[n];
    Parallel.loop(chunks, 1, threads, (from, to, t) -> chunk[from].place());
  }

  /** Rows [from, to), and for each front the rows and values in them, later in those before. */
  private final class Chunk {
    private final int from;
    private final int to;
    private final int[] rowsOf = new int[frontCount];
    private final int[] valuesOf = new int[frontCount];

    Chunk(int from, int to) {
      this.from = from;
      this.to = to;
    }

    void count() {
      for (int i = from; i < to; i++) {
        int t = placeOf(i);
        rowsOf[t]++;
        valuesOf[t] += rows.rowStart()[i + 1] - rows.rowStart()[i];
      }
    }

    void place() {
      for (int i = from; i < to; i++) {
        int t = placeOf(i);
        int at = start[t] + rowsOf[t]++;
        order[at] = i;
        before[at] = valuesOf[t];
        valuesOf[t] += rows.rowStart()[i + 1] - rows.rowStart()[i];
      }
    }
  }

  /** Turns the chunks' counts of some fronts into counts of earlier chunks, and their totals. */
  private void addUp(Chunk[] chunk, int from, int to) {
    for (int t = from; t < to; t++) {
      int count = 0;
      int values = 0;
      for (Chunk c : chunk) {
        int here = c.rowsOf[t];
        c.rowsOf[t] = count;
        count += here;
        here = c.valuesOf[t];
        c.valuesOf[t] = values;
        values += here;
      }
      start[t + 1] = count;
      entries[t] = values;
    }
  }

  private static int @Nullable [] places(int[] fronts) {
    int n = fronts.length;
    for (int t = 1; t < n; t++) {
      if (fronts[t] <= fronts[t - 1]) {
        throw new IllegalArgumentException("fronts of a task must be ascending: " + fronts[t]);
      }
    }
    if (n == 0 || fronts[n - 1] - fronts[0] == n - 1) {
      return null;
    }
    int[] place = new int[fronts[n - 1] - fronts[0] + 1];
    Arrays.fill(place, -1);
    for (int t = 0; t < n; t++) {
      place[fronts[t] - fronts[0]] = t;
    }
    return place;
  }

  /** This grouping, for rows of the same structure with other values. */
  private RowsByFront(RowsByFront other, RowBlock values) {
    rows = values;
    firstFront = other.firstFront;
    frontCount = other.frontCount;
    place = other.place;
    start = other.start;
    order = other.order;
    before = other.before;
    entries = other.entries;
  }

  /** This grouping, for a block with {@link #sameStructure}. */
  public RowsByFront withValues(RowBlock values) {
    return new RowsByFront(this, values);
  }

  /** Whether a block has the same fronts, positions and number of right-hand sides. O(entries). */
  public boolean sameStructure(RowBlock other, int threads) {
    int n = rows.rows();
    return other.rows() == n
        && other.rhsCount() == rows.rhsCount()
        && same(rows.front(), other.front(), n, threads)
        && same(rows.rowStart(), other.rowStart(), n + 1, threads)
        && same(rows.position(), other.position(), rows.rowStart()[n], threads);
  }

  /** Whether two arrays begin with the same n numbers. */
  private static boolean same(int[] a, int[] b, int n, int threads) {
    if (a == b) {
      return true;
    }
    var differ = new AtomicBoolean();
    Parallel.loop(
        n,
        COMPARED,
        threads,
        (from, to, t) -> {
          if (!differ.get() && !IndexRanges.equal(a, from, to, b, from)) {
            differ.set(true);
          }
        });
    return !differ.get();
  }

  private int placeOf(int row) {
    int t = place(rows.front()[row]);
    if (t < 0) {
      throw new IllegalArgumentException(
          "row " + row + " belongs to front " + rows.front()[row] + ", which is not in the task");
    }
    return t;
  }

  /** The rows, in the task's order. */
  public RowBlock rows() {
    return rows;
  }

  /** Place of front f in the task's list, or -1. */
  public int place(int f) {
    int k = f - firstFront;
    if (place == null) {
      return k >= 0 && k < frontCount ? k : -1;
    }
    return k >= 0 && k < place.length ? place[k] : -1;
  }

  /** Whether front f belongs to the task. */
  public boolean has(int f) {
    return place(f) >= 0;
  }

  /** Number of rows of front f. */
  public int count(int f) {
    int t = place(f);
    return start[t + 1] - start[t];
  }

  /** Row k of front f, k in [0, count). */
  public int row(int f, int k) {
    return order[first(f) + k];
  }

  /** Start of front f's rows among all rows in the fronts' order. */
  public int first(int f) {
    return start[place(f)];
  }

  /** Row at that place among all rows in the fronts' order. */
  public int at(int k) {
    return order[k];
  }

  /** Values of the first k rows of front f, right-hand sides not counted; k in [0, count]. */
  public long valuesBefore(int f, int k) {
    int t = place(f);
    return k == start[t + 1] - start[t] ? entries[t] : before[start[t] + k];
  }

  /**
   * The number of front f's rows, starting with row k, that are adjacent in the block; at least 1.
   */
  public int run(int f, int k) {
    int from = first(f) + k;
    int end = start[place(f) + 1];
    if (order[end - 1] - order[from] == end - 1 - from) {
      return end - from;
    }
    int at = from + 1;
    while (at < end && order[at] == order[at - 1] + 1) {
      at++;
    }
    return at - from;
  }

  /** Entries of front f's rows, right-hand sides included. */
  public long entries(int f) {
    return entries[place(f)] + (long) count(f) * rows.rhsCount();
  }

  /** The rows of some of the task's fronts, front by front, as a block. */
  public RowBlock only(int[] fronts) {
    int n = 0;
    int nz = 0;
    for (int f : fronts) {
      n += count(f);
      for (int k = 0; k < count(f); k++) {
        nz += rows.rowStart()[row(f, k) + 1] - rows.rowStart()[row(f, k)];
      }
    }
    int rhs = rows.rhsCount();
    var part =
        new RowBlock(
            new int[n], new int[n + 1], new int[nz], new double[nz], new double[n * rhs], rhs);
    int to = 0;
    int at = 0;
    for (int f : fronts) {
      for (int k = 0; k < count(f); k++, to++) {
        int i = row(f, k);
        int from = rows.rowStart()[i];
        int length = rows.rowStart()[i + 1] - from;
        part.front()[to] = f;
        System.arraycopy(rows.position(), from, part.position(), at, length);
        System.arraycopy(rows.value(), from, part.value(), at, length);
        System.arraycopy(rows.rhs(), i * rhs, part.rhs(), to * rhs, rhs);
        at += length;
        part.rowStart()[to + 1] = at;
      }
    }
    return part;
  }
}
