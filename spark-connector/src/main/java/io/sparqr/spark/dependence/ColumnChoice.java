/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import io.sparqr.spark.engine.JobScope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The columns to drop by the user's order, as far as rounding allows, with the combinations of kept
 * columns that they are. Connected components of the null space are independent of each other.
 *
 * <p>In exact arithmetic the order alone decides. If a column has only a small share of the null
 * space, though, dropping it multiplies what a solution loses to rounding by the reciprocal. The
 * choice starts with a small threshold for that share, and takes larger ones until the combinations
 * are usable ({@link #isUsable}): the order is followed less strictly then. R's own columns are
 * dropped if no threshold is left.
 *
 * <p>Combinations that are much smaller than the vectors from which they come are computed again,
 * from their values in the dead columns ({@link NullSpace#from}), and the choice is made again from
 * those.
 */
final class ColumnChoice {

  /** Least shares of the null space in a dropped column. */
  private static final double[] THRESHOLDS = {1e-11, 1e-8, 1e-6, 1e-4, 1e-2};

  /** Combinations with larger entries than this are made of rounding errors. */
  private static final double MEANINGLESS = 1e11;

  /** Combinations with entries up to this bound are usable for every right-hand side. */
  private static final double HARMLESS = 100;

  /** Combinations with larger entries are not used. */
  private static final double UNUSABLE = 1e8;

  /** Digits lost to a cancellation by this factor are computed again. */
  private static final double LOSSY = 100;

  /** Departure from 1 of a recomputed vector. */
  private static final double CONFIRMED = 1e-2;

  /** How much larger than R's basic solution another one may be, at equal residuals of zero. */
  private static final double LARGER = 10;

  /** How much larger than ||b|| it may be: residuals of some 1e-13 ||b||. */
  private static final double LARGER_THAN_B = 500;

  /** A rounding error of this fraction of the residual does not show in its norm. */
  private static final double HIDDEN = 1e-4;

  /** How often a choice is repeated with recomputed vectors. */
  private static final int ROUNDS = 4;

  /** Limits of dense orthogonal transformations: values, and flops. */
  private static final long DENSE_VALUES = 1 << 22;

  private static final long DENSE_FLOPS = 4L << 30;

  private final FactoredMatrix of;
  private final NullSpace nullSpace;
  private final int[] place;
  private final long most;
  private final JobScope scope;

  /** R's basic solutions for equilibrated columns. */
  private double @Nullable [][] solution;

  /** Lower bounds of ||b||. */
  private double @Nullable [] norm;

  private boolean inexact;
  private final List<Elimination.Gone> gone = new ArrayList<>();
  private final List<Deviation> deviations = new ArrayList<>();

  /**
   * A component in which the order was not followed.
   *
   * @param asked columns dropped by the order; empty if they could not be determined
   * @param dropped columns dropped instead
   * @param growth largest coefficient of the combinations for the asked ones
   */
  record Deviation(int[] asked, int[] dropped, double growth) {}

  /**
   * @param place position of each column in the order of dropping, a permutation
   * @param most maximum bytes of the null space on the driver
   */
  ColumnChoice(FactoredMatrix of, NullSpace nullSpace, int[] place, long most, JobScope scope) {
    this.of = of;
    this.nullSpace = nullSpace;
    this.place = place;
    this.most = most;
    this.scope = scope;
  }

  /** A component on the way to its choice. */
  private static final class Component {
    /** With 1 in one dead column of R each. */
    final List<SparseVector> basis;

    /** Those columns. */
    final int[] dead;

    final int[] columns;
    final boolean dense;
    List<SparseVector> vectors;
    int level;
    int round;
    int[] last = new int[0];

    /** What the order asks for, and the largest coefficient there. */
    int[] asked = new int[0];

    double growth = Double.NaN;

    Component(List<SparseVector> basis, int[] dead) {
      this.basis = basis;
      this.dead = dead;
      this.vectors = basis;
      this.columns =
          basis.stream().flatMapToInt(v -> Arrays.stream(v.column())).sorted().distinct().toArray();
      long values = Math.multiplyExact((long) columns.length, basis.size());
      this.dense = values <= DENSE_VALUES && values * basis.size() <= DENSE_FLOPS;
    }

    double threshold() {
      return Math.min(THRESHOLDS[level], 0.5 / Math.sqrt(columns.length));
    }

    void stricter() {
      level++;
      round = 0;
      vectors = basis;
      last = new int[0];
    }
  }

  /** A component that waits for vectors with these values in the dead columns. */
  private record Waiting(Component component, List<SparseVector> given) {}

  /** One entry for each vector of the basis: a dropped column and its combination. */
  List<Elimination.Gone> run(List<SparseVector> basis) {
    Deque<Component> open = new ArrayDeque<>();
    for (int[] numbers : Components.of(basis, place.length)) {
      open.add(
          new Component(
              Arrays.stream(numbers).mapToObj(basis::get).toList(),
              Arrays.stream(numbers).map(k -> of.dead()[k]).toArray()));
    }
    while (!open.isEmpty()) {
      var waiting = new ArrayList<Waiting>();
      for (Component c : open) {
        step(c, waiting);
      }
      open.clear();
      recompute(waiting, open);
    }
    return gone;
  }

  /** Where the order was not followed. */
  List<Deviation> deviations() {
    return deviations;
  }

  /**
   * Whether the combinations are as good as another back substitution would make them: no values
   * were left out, and they neither come from a sparse elimination nor are large.
   */
  boolean isExact() {
    return !nullSpace.isCut() && !inexact;
  }

  /** Goes on with a component until it is settled or needs other vectors. */
  private void step(Component c, List<Waiting> waiting) {
    while (c.level < THRESHOLDS.length) {
      List<Elimination.Gone> found =
          c.dense
              ? new OrthogonalChoice(c.vectors, place).run(c.threshold())
              : Elimination.run(c.vectors, place, c.threshold());
      if (found.isEmpty()) {
        c.stricter();
        continue;
      }
      int[] columns = columns(found);
      boolean again =
          c.round == 0
              ? isLossy(c.vectors, found)
              : c.round < ROUNDS && !Arrays.equals(columns, c.last);
      if (again) {
        c.last = columns;
        c.round++;
        waiting.add(new Waiting(c, atDead(found)));
        return;
      }
      double growth = largest(found.stream().map(Elimination.Gone::vector).toList());
      boolean confirmed = isConfirmed(c, found);
      if (c.asked.length == 0 && growth < MEANINGLESS && confirmed) {
        c.asked = columns;
        c.growth = growth;
      }
      if (confirmed && isUsable(found, growth)) {
        inexact |= !c.dense || growth > HARMLESS;
        settle(c, found);
        return;
      }
      c.stricter();
    }
    keepOfR(c);
  }

  private void recompute(List<Waiting> waiting, Deque<Component> open) {
    if (waiting.isEmpty()) {
      return;
    }
    List<SparseVector> made =
        nullSpace.from(waiting.stream().flatMap(w -> w.given.stream()).toList(), most);
    int at = 0;
    for (Waiting w : waiting) {
      if (made == null) {
        keepOfR(w.component);
      } else {
        w.component.vectors = made.subList(at, at + w.given.size());
        at += w.given.size();
        open.add(w.component);
      }
    }
  }

  private void settle(Component c, List<Elimination.Gone> found) {
    gone.addAll(found);
    if (!Arrays.equals(columns(found), c.asked)) {
      deviations.add(new Deviation(c.asked, columns(found), c.growth));
    }
  }

  private void keepOfR(Component c) {
    var found = new ArrayList<Elimination.Gone>();
    for (int k = 0; k < c.dead.length; k++) {
      found.add(new Elimination.Gone(c.dead[k], c.basis.get(k)));
    }
    settle(c, found);
  }

  private static int[] columns(List<Elimination.Gone> found) {
    return found.stream().mapToInt(Elimination.Gone::column).sorted().toArray();
  }

  private boolean isDead(int column) {
    return Arrays.binarySearch(of.dead(), column) >= 0;
  }

  private List<SparseVector> atDead(List<Elimination.Gone> found) {
    var given = new ArrayList<SparseVector>();
    for (Elimination.Gone g : found) {
      SparseVector v = g.vector();
      int[] at = IntStream.range(0, v.count()).filter(i -> isDead(v.column()[i])).toArray();
      given.add(
          new SparseVector(
              Arrays.stream(at).map(i -> v.column()[i]).toArray(),
              Arrays.stream(at).mapToDouble(i -> v.value()[i]).toArray()));
    }
    return given;
  }

  private static double largest(List<SparseVector> vectors) {
    double most = 0;
    for (SparseVector v : vectors) {
      most = Math.max(most, largest(v.value()));
    }
    return most;
  }

  /** Whether large terms have cancelled in the combinations. */
  private boolean isLossy(List<SparseVector> from, List<Elimination.Gone> found) {
    double factors = largest(atDead(found));
    double result = largest(found.stream().map(Elimination.Gone::vector).toList());
    return !(largest(from) * factors <= LOSSY * Math.max(1, result));
  }

  /**
   * Whether vectors that were computed again are what they were computed for: 1 in one of the
   * columns to drop. Otherwise rounding errors have chosen these columns.
   */
  private static boolean isConfirmed(Component c, List<Elimination.Gone> found) {
    for (int k = 0; c.round > 0 && k < found.size(); k++) {
      double one = c.vectors.get(k).at(found.get(k).column());
      if (!(Math.abs(one - 1) <= CONFIRMED)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether solutions without these columns have residuals as small as R's basic solutions have, to
   * rounding: eps max |x_j| ||a_j|| tells how small a residual can be.
   */
  private boolean isUsable(List<Elimination.Gone> found, double growth) {
    if (growth <= HARMLESS) {
      return true;
    }
    if (!(growth <= UNUSABLE)) {
      return false;
    }
    if (solution == null || norm == null) {
      solution = equilibrated(of.solutions().apply(scope));
      norm = of.leastNorms(solution, scope);
    }
    for (int k = 0; k < solution.length; k++) {
      double allowed =
          Math.max(
              Math.max(LARGER * largest(solution[k]), LARGER_THAN_B * norm[k]),
              HIDDEN / Math.ulp(1.0) * of.tail()[k]);
      if (!(moved(found, solution[k]) <= allowed)) {
        return false;
      }
    }
    return true;
  }

  private double[][] equilibrated(double[][] x) {
    double[][] scaled = new double[x.length][place.length];
    for (int k = 0; k < x.length; k++) {
      for (int j = 0; j < place.length; j++) {
        scaled[k][j] = x[k][j] / of.plan().columnScale(j);
      }
    }
    return scaled;
  }

  private static double largest(double[] values) {
    double most = 0;
    for (double v : values) {
      most = Math.max(most, Math.abs(v));
    }
    return most;
  }

  /** The largest entry, among these columns, of a solution moved in them. */
  private double moved(List<Elimination.Gone> found, double[] x) {
    double[] step = new double[place.length];
    var touched = new BitSet();
    for (Elimination.Gone g : found) {
      SparseVector v = g.vector();
      double shift = x[g.column()];
      for (int i = 0; i < v.count(); i++) {
        step[v.column()[i]] -= shift * v.value()[i];
        touched.set(v.column()[i]);
      }
    }
    double most = 0;
    for (int j = touched.nextSetBit(0); j >= 0; j = touched.nextSetBit(j + 1)) {
      most = Math.max(most, Math.abs(x[j] + step[j]));
    }
    return most;
  }
}
