/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolveOptions.Dropping;
import io.sparqr.spark.plan.SolvePlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The columns of a rank-deficient matrix that are zero in its basic solution. R's own choice
 * follows the fill-reducing order. Another choice needs no other R: any two minimizers differ by a
 * vector of the null space, so x is moved along a basis of it ({@link NullSpace}) until other
 * columns are zero.
 */
public final class BasicColumns {

  /** Columns named in a warning. */
  private static final int LISTED = 8;

  /** Most back substitutions of a move. */
  private static final int STEPS = 3;

  /** What is left by a back substitution is moved along the stored combinations from here on. */
  private static final double SMALL = 1e-6;

  private final int[] byR;
  private final int[] dropped;

  /** For equilibrated columns. */
  private final List<Dependency> dependencies;

  private final Optional<String> warning;

  /** The matrix, if solutions are moved by back substitution with it. */
  private final Optional<FactoredMatrix> exactly;

  private BasicColumns(
      int[] byR,
      List<Dependency> dependencies,
      Optional<String> warning,
      Optional<FactoredMatrix> exactly) {
    this.byR = byR;
    this.dropped =
        dependencies.isEmpty() ? byR : dependencies.stream().mapToInt(Dependency::column).toArray();
    this.dependencies = dependencies;
    this.warning = warning;
    this.exactly = exactly;
  }

  /** R's own choice. */
  public static BasicColumns ofR(int[] dead) {
    return new BasicColumns(dead, List.of(), Optional.empty(), Optional.empty());
  }

  /**
   * The user's choice, or R's with a warning if the null space has too many nonzeros for the
   * driver, or if rounding errors forbid it ({@link ColumnChoice}). Costs d back substitutions for
   * d dead columns, in batches, and an elimination of d sparse vectors; in ill-conditioned cases up
   * to a few times that.
   *
   * @param most maximum bytes of the null space on the driver
   */
  public static BasicColumns choose(FactoredMatrix of, Dropping how, long most, JobScope scope) {
    int[] dead = of.dead();
    scope.describe("null space, for the columns that stay");
    var nullSpace = new NullSpace(of, scope);
    List<SparseVector> basis = nullSpace.basis(most);
    if (basis == null) {
      String text =
          "which of the dependent columns go was left to the fill-reducing order: the null space of"
              + " %,d vectors takes more than %,d MB of the driver";
      return new BasicColumns(
          dead, List.of(), Optional.of(text.formatted(dead.length, most >> 20)), Optional.empty());
    }
    int n = of.plan().analysis().columns();
    if (!how.by()) {
      List<Dependency> ofR = dependencies(asTheyAre(basis, dead));
      return new BasicColumns(dead, ofR, Optional.empty(), Optional.empty());
    }
    var choice = new ColumnChoice(of, nullSpace, places(how, n), most, scope);
    List<Dependency> chosen = dependencies(choice.run(basis));
    return new BasicColumns(
        dead,
        chosen,
        warning(choice.deviations()),
        choice.isExact() ? Optional.empty() : Optional.of(of));
  }

  private static List<Dependency> dependencies(List<Elimination.Gone> gone) {
    return gone.stream()
        .sorted(Comparator.comparingInt(Elimination.Gone::column))
        .map(BasicColumns::dependency)
        .toList();
  }

  /** The first component in which the order was not followed, and the number of them. */
  private static Optional<String> warning(List<ColumnChoice.Deviation> deviations) {
    if (deviations.isEmpty()) {
      return Optional.empty();
    }
    ColumnChoice.Deviation d = deviations.get(0);
    String dropped = list(without(d.dropped(), d.asked()));
    String why =
        d.asked().length == 0
            ? "dependent columns %s are dropped whatever the order asks: others cannot be determined"
                    .formatted(dropped)
                + " for rounding errors"
            : "dependent columns %s are dropped instead of %s: without the latter, rounding errors"
                    .formatted(dropped, list(without(d.asked(), d.dropped())))
                + " would grow by up to %.0e".formatted(d.growth());
    int others = deviations.size() - 1;
    return Optional.of(
        others == 0 ? why : why + " (%,d further groups likewise)".formatted(others));
  }

  private static int[] without(int[] columns, int[] others) {
    return Arrays.stream(columns).filter(j -> Arrays.binarySearch(others, j) < 0).toArray();
  }

  /** Column numbers, at most {@link #LISTED}. */
  private static String list(int[] columns) {
    String text =
        Arrays.stream(columns)
            .limit(LISTED)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(", "));
    return columns.length <= LISTED ? text : text + ", ...";
  }

  /**
   * Checks the user's wishes.
   *
   * @throws IllegalArgumentException for a column out of range, or one to be both kept and dropped
   */
  public static void check(Dropping how, int n) {
    var kept = new BitSet();
    for (int j : how.keep()) {
      kept.set(check(j, n));
    }
    for (int j : how.drop()) {
      if (kept.get(check(j, n))) {
        throw new IllegalArgumentException("column " + j + " is to be kept and to be dropped");
      }
    }
  }

  /**
   * The order in which columns are dropped: those to drop, the others, those to keep; among the
   * others, later ones first.
   */
  static int[] places(Dropping how, int n) {
    int[] priority = new int[n];
    int[] keep = how.keep();
    for (int i = 0; i < keep.length; i++) {
      priority[check(keep[i], n)] = keep.length - i;
    }
    for (int j = how.keepFrom().orElse(n); j < n; j++) {
      priority[j] = keep.length + 1;
    }
    for (int j : how.drop()) {
      priority[check(j, n)] = -1;
    }
    return placed(n, Comparator.<Integer>comparingInt(j -> priority[j]).thenComparing(j -> -j));
  }

  /** A column index in [0, n), with negative numbers counted from the end. */
  private static int check(int column, int n) {
    if (column < -n || column >= n) {
      throw new IllegalArgumentException(
          "column " + column + " is to be kept or dropped, of " + n + " columns");
    }
    return column < 0 ? n + column : column;
  }

  /** R's choice: each vector is 1 in one dead column and 0 in the others. */
  private static List<Elimination.Gone> asTheyAre(List<SparseVector> basis, int[] dead) {
    var gone = new ArrayList<Elimination.Gone>();
    for (int k = 0; k < dead.length; k++) {
      gone.add(new Elimination.Gone(dead[k], basis.get(k)));
    }
    return gone;
  }

  private static int[] placed(int n, Comparator<Integer> order) {
    Integer[] columns = new Integer[n];
    Arrays.setAll(columns, j -> j);
    Arrays.sort(columns, order);
    int[] place = new int[n];
    for (int k = 0; k < n; k++) {
      place[columns[k]] = k;
    }
    return place;
  }

  /** A dropped column as a combination of kept ones, all equilibrated. */
  private static Dependency dependency(Elimination.Gone gone) {
    SparseVector v = gone.vector();
    int[] others =
        IntStream.range(0, v.count()).filter(i -> v.column()[i] != gone.column()).toArray();
    return new Dependency(
        gone.column(),
        Arrays.stream(others).map(i -> v.column()[i]).toArray(),
        Arrays.stream(others).mapToDouble(i -> -v.value()[i]).toArray());
  }

  /** Original indices of the columns that are zero in the solution, ascending; a copy. */
  public int[] dropped() {
    return dropped.clone();
  }

  /** Whether the {@link #dependencies} are available. */
  public boolean known() {
    return dependencies.size() == byR.length;
  }

  /**
   * Each dropped column as a combination of kept ones, ascending, in the caller's units.
   * O(nonzeros).
   */
  public List<Dependency> dependencies(SolvePlan plan) {
    return dependencies.stream().map(d -> inUnits(plan, d)).toList();
  }

  private static Dependency inUnits(SolvePlan plan, Dependency d) {
    double[] c = d.coefficients().clone();
    for (int i = 0; i < c.length; i++) {
      c[i] = plan.ratio(d.on()[i], d.column(), c[i]);
    }
    return new Dependency(d.column(), d.on(), c);
  }

  /** The reason for keeping R's choice, if another was requested. */
  public Optional<String> warning() {
    return warning;
  }

  /** Whether the choice differs from R's. */
  public boolean moves() {
    return !Arrays.equals(byR, dropped);
  }

  /**
   * Moves solutions along the null space until the dropped columns are zero. O(its nonzeros), and
   * up to {@link #STEPS} back substitutions where columns are nearly dependent: what the stored
   * combinations lack in digits would show beside large values of x.
   */
  public void move(SolvePlan plan, double[][] x, JobScope scope) {
    for (int step = 0; moves() && exactly.isPresent() && step < STEPS; step++) {
      if (!shift(exactly.get(), plan, x, scope)) {
        break;
      }
    }
    move(plan, x);
  }

  /** Moves solutions along the stored combinations alone. O(their nonzeros). */
  public void move(SolvePlan plan, double[][] x) {
    if (!moves()) {
      return;
    }
    for (Dependency d : dependencies) {
      for (double[] one : x) {
        double shift = plan.unscaled(d.column(), one[d.column()]);
        for (int i = 0; i < d.on().length; i++) {
          one[d.on()[i]] += plan.scaled(d.on()[i], shift * d.coefficients()[i]);
        }
        one[d.column()] = 0;
      }
    }
  }

  /**
   * Moves solutions by the vectors of the null space that have the values of the moved solutions in
   * R's dead columns. What is left in the dropped columns is small.
   *
   * @return whether it is still large enough for another step
   */
  private boolean shift(FactoredMatrix of, SolvePlan plan, double[][] x, JobScope scope) {
    int width = x.length;
    double[][] moved = Arrays.stream(x).map(double[]::clone).toArray(double[][]::new);
    move(plan, moved);
    double[] z = plan.vector(width);
    for (int j : byR) {
      for (int k = 0; k < width; k++) {
        z[plan.position(j) * width + k] = (moved[k][j] - x[k][j]) / plan.columnScale(j);
      }
    }
    double[] step = of.homogeneous(z, width, scope);
    boolean large = false;
    for (int k = 0; k < width; k++) {
      double before = inDropped(plan, x[k]);
      for (int j = 0; j < x[k].length; j++) {
        x[k][j] += step[j * width + k] * plan.columnScale(j);
      }
      large |= inDropped(plan, x[k]) > SMALL * before;
    }
    return large;
  }

  /** The largest value in the columns to drop, equilibrated. */
  private double inDropped(SolvePlan plan, double[] x) {
    return Arrays.stream(dropped)
        .mapToDouble(j -> Math.abs(x[j] / plan.columnScale(j)))
        .max()
        .orElse(0);
  }

  /**
   * Changes vectors u so that their products with R's basic solution equal those of u with the
   * moved one. Only the values at the dropped columns matter and are adjusted by those of the
   * columns of which they are combinations. O(nonzeros of the null space) per vector.
   *
   * @param vectors only their indices and values are used
   */
  public List<SparseRow> projected(SolvePlan plan, List<SparseRow> vectors) {
    if (!moves()) {
      return vectors;
    }
    List<Dependency> made = dependencies(plan);
    return vectors.stream().map(u -> projected(made, u)).toList();
  }

  private static SparseRow projected(List<Dependency> made, SparseRow u) {
    var value = new TreeMap<Integer, Double>();
    for (int e = 0; e < u.indices().length; e++) {
      value.merge(u.indices()[e], u.values()[e], Double::sum);
    }
    for (Dependency d : made) {
      value.remove(d.column());
    }
    var all = new TreeMap<>(value);
    for (Dependency d : made) {
      double sum = 0;
      for (int i = 0; i < d.on().length; i++) {
        // Columns of norm 1e200 and 1e-200 may have a ratio beyond doubles: multiplied only if
        // needed.
        Double v = value.get(d.on()[i]);
        sum += v == null ? 0 : d.coefficients()[i] * v;
      }
      if (sum != 0) {
        all.put(d.column(), sum);
      }
    }
    int[] index = all.keySet().stream().mapToInt(j -> j).toArray();
    double[] values = all.values().stream().mapToDouble(v -> v).toArray();
    return new SparseRow(index, values, u.labels(), u.weight(), u.columns());
  }

  /** The errors of this basic solution, from those of R's, in the caller's units. */
  public double[] errors(SolvePlan plan, double[] ofR, MovedErrors.Normal normal) {
    if (!moves()) {
      return ofR;
    }
    double[] scaled = new double[ofR.length];
    for (int j = 0; j < scaled.length; j++) {
      scaled[j] = plan.unscaled(j, ofR[j]);
    }
    double[] error = new MovedErrors(byR, dependencies, normal).run(scaled);
    for (int j = 0; j < error.length; j++) {
      error[j] = plan.scaled(j, error[j]);
    }
    return error;
  }
}
