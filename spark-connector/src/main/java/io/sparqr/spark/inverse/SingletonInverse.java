/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The singletons' rows of R^-1, R = [R11 R12; 0 R22]: row p is [v', -v'R12 R22^-1] with v = R11'^-1
 * e_p. Its squared norm is ||v||^2 + u'Z u with u = R12'v and Z = (R22'R22)^-1. The rows for
 * columns of R22 do not depend on the singletons.
 *
 * <p>v and u are sparse; their cost is that of the entries in the singletons' rows reachable from
 * p. If only one column is left to process, its own norm gives the rest, so that a chain costs O(1)
 * per link; a u with a single entry only needs the norm of that column. All others become queries,
 * with equal directions asked once. Runs on the driver, which holds the singletons' rows.
 */
final class SingletonInverse {

  private final SolvePlan plan;
  private final SymbolicAnalysis analysis;
  private final SingletonRows rows;
  private final boolean[] dead;

  /** Size n1: ||v||, or its part before {@link #next}. */
  private final double[] own;

  /** Size n1: the position whose norm, times the factor, gives the rest; -1: none. */
  private final int[] next;

  /** Size n1: the query whose answer, times the factor, gives the rest; -1: none. */
  private final int[] question;

  private final double[] factor;

  private final List<Direction> directions = new ArrayList<>();
  private final Map<Direction, Integer> known = new HashMap<>();

  /** By query: the front with the answer, or -1. */
  private int[] frontOf = new int[0];

  private final Work work;
  private long eliminated;

  /** u divided by its entry of greatest absolute value; at least two live positions, ascending. */
  private record Direction(int[] position, double[] value) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Direction d
          && Arrays.equals(position, d.position)
          && Arrays.equals(value, d.value);
    }

    @Override
    public int hashCode() {
      return 31 * Arrays.hashCode(position) + Arrays.hashCode(value);
    }
  }

  SingletonInverse(SolvePlan plan, SingletonRows rows, int[] deadPositions) {
    this.plan = plan;
    this.analysis = plan.analysis();
    this.rows = rows;
    int n1 = rows.count();
    this.dead = new boolean[n1 == 0 ? 0 : analysis.columns()];
    for (int p : n1 == 0 ? new int[0] : deadPositions) {
      dead[p] = true;
    }
    this.own = new double[n1];
    this.next = new int[n1];
    this.question = new int[n1];
    this.factor = new double[n1];
    this.work = new Work(dead.length, n1);
    for (int p = 0; p < n1; p++) {
      reduce(p);
    }
    frontOf = directions.stream().mapToInt(this::frontOf).toArray();
  }

  /** v and u as one sparse vector: singletons still to be eliminated, and columns of R22. */
  private static final class Work {
    final double[] c;
    final BitSet open;
    int openCount;
    final boolean[] held;
    int[] tail = new int[16];
    int tailCount;

    Work(int n, int n1) {
      c = new double[n];
      open = new BitSet(n1);
      held = new boolean[n];
    }

    void add(int p, double v, boolean singleton) {
      c[p] += v;
      if (singleton) {
        if (!open.get(p)) {
          open.set(p);
          openCount++;
        }
      } else if (!held[p]) {
        held[p] = true;
        tail = tailCount == tail.length ? Arrays.copyOf(tail, 2 * tailCount) : tail;
        tail[tailCount++] = p;
      }
    }

    double takeSingleton(int p) {
      open.clear(p);
      openCount--;
      return take(p);
    }

    double take(int p) {
      double v = c[p];
      c[p] = 0;
      return v;
    }
  }

  private void reduce(int p) {
    next[p] = -1;
    question[p] = -1;
    own[p] = eliminate(p, 1);
    int q = p;
    while (work.openCount > 0) {
      q = work.open.nextSetBit(q + 1);
      if (work.openCount + work.tailCount == 1) {
        next[p] = q;
        factor[p] = work.takeSingleton(q);
        return;
      }
      own[p] = Math.hypot(own[p], eliminate(q, work.takeSingleton(q)));
    }
    rest(p);
  }

  /** Eliminates p: computes its entry of v and subtracts its row of R; returns |entry|. */
  private double eliminate(int p, double c) {
    int from = rows.rowStart()[p];
    double v = c / rows.value()[from];
    eliminated++;
    for (int k = from + 1; k < rows.rowStart()[p + 1]; k++) {
      int j = rows.position()[k];
      if (!dead[j]) {
        work.add(j, -rows.value()[k] * v, j < rows.count());
      }
    }
    return Math.abs(v);
  }

  /** Derives the rest of p's norm from u. */
  private void rest(int p) {
    int[] position = Arrays.copyOf(work.tail, work.tailCount);
    work.tailCount = 0;
    Arrays.sort(position);
    double[] value = new double[position.length];
    int count = 0;
    double most = 0;
    for (int j : position) {
      double u = work.take(j);
      work.held[j] = false;
      if (u != 0) {
        position[count] = j;
        value[count++] = u;
        most = Math.abs(u) > Math.abs(most) ? u : most;
      }
    }
    factor[p] = most;
    if (count == 1) {
      next[p] = position[0];
    } else if (count > 1) {
      for (int k = 0; k < count; k++) {
        value[k] /= most;
      }
      var u = new Direction(Arrays.copyOf(position, count), Arrays.copyOf(value, count));
      question[p] = known.computeIfAbsent(u, d -> directions.size());
      if (question[p] == directions.size()) {
        directions.add(u);
      }
    }
  }

  /** The front that contains all of u's columns: only that of the least can. */
  private int frontOf(Direction u) {
    int f = plan.frontOf(u.position[0]);
    int k = 0;
    for (int p : u.position) {
      while (k < analysis.fn(f) && analysis.column(f, k) < p) {
        k++;
      }
      if (k == analysis.fn(f) || analysis.column(f, k) != p) {
        return -1;
      }
    }
    return f;
  }

  /** Number of queries. */
  int questions() {
    return directions.size();
  }

  /** Total number of singleton rows processed. */
  long eliminated() {
    return eliminated;
  }

  /** The queries for each task, by front. */
  List<byte[]> asked() {
    int tasks = plan.partition().tasks().size();
    List<List<Integer>> of = new ArrayList<>();
    for (int t = 0; t < tasks; t++) {
      of.add(new ArrayList<>());
    }
    for (int k = 0; k < frontOf.length; k++) {
      if (frontOf[k] >= 0) {
        of.get(plan.taskOf(frontOf[k])).add(k);
      }
    }
    var frames = new ArrayList<byte[]>();
    for (List<Integer> mine : of) {
      mine.sort(Comparator.comparingInt(k -> frontOf[k]));
      var batch = new RowBatchCodec.Builder(1);
      for (int k : mine) {
        Direction u = directions.get(k);
        batch.add(frontOf[k], u.position, u.value, 0, u.position.length, new double[] {k}, 0);
      }
      frames.add(batch.take(0, 0));
    }
    return frames;
  }

  /**
   * Queries that no front can answer, ordered by their least column, so that neighbours share a
   * path.
   */
  int[] unanswered() {
    var open = new ArrayList<Integer>();
    for (int k = 0; k < frontOf.length; k++) {
      if (frontOf[k] < 0) {
        open.add(k);
      }
    }
    open.sort(Comparator.comparingInt(k -> directions.get(k).position[0]));
    return open.stream().mapToInt(k -> k).toArray();
  }

  /** Stores u of a query as column k of c, by position. */
  void put(int asked, double[] c, int k, int width) {
    Direction u = directions.get(asked);
    for (int i = 0; i < u.position.length; i++) {
      c[u.position[i] * width + k] = u.value[i];
    }
  }

  /**
   * Sets the singletons' norms.
   *
   * @param norm by position; already known from n1 on
   * @param answer of each query
   */
  void complete(double[] norm, double[] answer) {
    for (int p = rows.count() - 1; p >= 0; p--) {
      double rest = 0;
      if (next[p] >= 0) {
        rest = norm[next[p]];
      } else if (question[p] >= 0) {
        rest = answer[question[p]];
      }
      norm[p] = Math.hypot(own[p], factor[p] * rest);
    }
  }
}
