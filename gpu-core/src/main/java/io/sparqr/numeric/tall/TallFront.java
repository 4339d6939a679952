/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.threads.Later;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * R of a dense m x n matrix by a backend, without Q and without rank detection: its rows are taken
 * a chunk at a time under the triangle of those before (the flat tree of Demmel, Grigori, Hoemmen,
 * Langou 2012). The memory of host and device is that of a chunk, whatever m is.
 *
 * <p>Several lanes take turns: while one is at work, the caller fills the next one's chunk. Each
 * has a triangle of its own, and the others go under the first one at the end. The rows' order, the
 * size of a chunk and the number of lanes decide on every bit, besides the backend.
 *
 * <p>2 m n^2 flops, and 2 n^3 / 3 for each chunk. For one thread.
 */
public final class TallFront implements AutoCloseable {

  private final int columns;
  private final Lane[] lanes;
  private int lane;
  private long rows;

  /**
   * Without rows.
   *
   * @param reducers one for each lane, which may be the same, all of one size; not closed with this
   */
  public TallFront(List<ChunkReducer> reducers) {
    columns = reducers.get(0).columns();
    lanes = reducers.stream().map(Lane::new).toArray(Lane[]::new);
  }

  /** A triangle and the rows that go under it next. */
  private static final class Lane {
    private final ChunkReducer reducer;
    private final ScaledChunk chunk;
    private boolean begun;
    private @Nullable Later<Boolean> work;

    Lane(ChunkReducer reducer) {
      this.reducer = reducer;
      chunk = new ScaledChunk(reducer);
    }

    void begin() {
      begun = true;
      var next =
          new Later<>(
              () -> {
                chunk.reduce();
                return true;
              });
      work = next;
      next.begin();
    }

    /** Waits for the chunk that is under way, if one is. */
    void await() {
      Later<Boolean> pending = work;
      work = null;
      if (pending != null) {
        pending.get();
      }
    }

    void clear() {
      chunk.clear();
      begun = false;
    }
  }

  /**
   * Adds a row; waits if all lanes are at work.
   *
   * @throws DimensionMismatchException if it is not of size n
   */
  public void row(double[] row) {
    if (row.length != columns) {
      throw new DimensionMismatchException(
          "row %d has %d values, the matrix %d columns".formatted(rows, row.length, columns),
          "row",
          columns,
          row.length);
    }
    rows(row, 0, 1);
  }

  /**
   * Adds rows that lie one after the other.
   *
   * @param a row-major, finite
   * @param from the first value
   * @param count of rows
   */
  public void rows(double[] a, int from, int count) {
    int at = from;
    int left = count;
    while (left > 0) {
      Lane mine = lanes[lane];
      mine.await();
      int some = Math.min(left, mine.reducer.rows() - mine.chunk.filled());
      mine.chunk.add(a, at, some);
      at += some * columns;
      left -= some;
      if (mine.chunk.isFull()) {
        mine.begin();
        lane = (lane + 1) % lanes.length;
      }
    }
    rows += count;
  }

  /** m so far. */
  public long rows() {
    return rows;
  }

  /** Whether the backend has had a chunk; before the first full one all rows are still here. */
  public boolean hasBegun() {
    return lanes[0].begun;
  }

  /**
   * A copy of a row that is still here.
   *
   * @param i from 0 to {@link #rows} - 1, before {@link #hasBegun}
   */
  public void copyRow(int i, double[] row) {
    lanes[0].chunk.row(i, row);
  }

  /**
   * R of the rows since the last call, n x n, column-major, zero below the diagonal, which is at
   * least 0. Rows that follow are of another matrix, for which nothing need be prepared again.
   */
  public double[] r() {
    lanes[lane].await();
    if (lanes[lane].chunk.filled() > 0) {
      lanes[lane].begin();
    }
    for (Lane each : lanes) {
      each.await();
    }
    for (int k = 1; k < lanes.length && lanes[k].begun; k++) {
      join(lanes[0], lanes[k]);
    }
    double[] r = lanes[0].chunk.triangle();
    for (Lane each : lanes) {
      each.clear();
    }
    lane = 0;
    rows = 0;
    return r;
  }

  /** Takes the rows of another triangle under that of a lane. */
  private void join(Lane into, Lane other) {
    double[] r = other.chunk.triangle();
    double[] row = new double[columns];
    for (int i = 0; i < columns; i++) {
      for (int k = 0; k < columns; k++) {
        row[k] = r[i + k * columns];
      }
      into.chunk.add(row, 0, 1);
      if (into.chunk.isFull() || i == columns - 1) {
        into.chunk.reduce();
      }
    }
  }

  /** Waits for what is under way. */
  @Override
  public void close() {
    RuntimeException first = null;
    for (Lane each : lanes) {
      try {
        each.await();
      } catch (RuntimeException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
