/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontSolve;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TaskReflection;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * The distance of a result from the right one, by quantities that do not depend on signs and order:
 * the Gram matrix [R y]'[R y] against [A b]'[A b], summed from the given rows, and x against that
 * of a right result.
 */
public final class FaultOracle {

  /** Relative change of x that counts, where the condition is below {@link #CONDITION}. */
  public static final double X = 1e-9;

  public static final double CONDITION = 1e3;

  /** Random vectors that reflectors are applied to. */
  private static final int Z = 3;

  /** The problem with a copy of its rows, because faults are put into the originals. */
  private final SubtreeProblem problem;

  private final int n;
  private final int rhs;
  private final double[] norm;
  private final double[][] gram;
  private final boolean[] dead;
  private final double[] x;
  private final long rank;
  private final double[] pivot;
  private final double tolerance;
  private final double condition;
  private final double limit;

  /**
   * The right result that others are compared with.
   *
   * @param reference a right one
   */
  public FaultOracle(FaultProblem p, SubtreeFactor reference) {
    problem = copy(p.problem());
    tolerance = Math.max(0, p.options().rankTolerance());
    n = problem.analysis().columns();
    rhs = problem.rows().rhsCount();
    gram = gramOfRows();
    norm = new double[n + rhs];
    Arrays.setAll(norm, j -> Math.sqrt(gram[j][j]));
    dead = dead(reference);
    x = solve(reference);
    rank = rank(reference);
    pivot = pivots(reference);
    condition = rank < n ? Double.POSITIVE_INFINITY : condition(denseR(reference));
    limit = 4 * p.bound(reference) * Balance.weight(probeNorm(), n, rhs);
  }

  private static SubtreeProblem copy(SubtreeProblem p) {
    RowBlock r = p.rows();
    var rows =
        new RowBlock(
            r.front(),
            r.rowStart(),
            r.position(),
            r.value().clone(),
            r.rhs().clone(),
            r.rhsCount());
    var blocks = new ArrayList<ContributionBlock>();
    for (ContributionBlock b : p.inputs()) {
      blocks.add(
          new ContributionBlock(
              b.front(), b.cm(), b.cn(), b.values().clone(), b.rhs().clone(), b.rhsCount()));
    }
    return new SubtreeProblem(p.analysis(), p.fronts(), rows, blocks);
  }

  /**
   * c eps: how far entry (i, j) of the Gram matrix may be changed, as a part of ||a_i|| ||a_j||; in
   * products with one of several right-hand sides as many times more as it weighs less.
   */
  public double limit() {
    return limit;
  }

  /** 2-norm condition of R with columns of norm 1. */
  public double condition() {
    return condition;
  }

  /**
   * The errors of a result.
   *
   * @param gram largest change of an entry of the Gram matrix, over ||a_i|| ||a_j||
   * @param x relative change of the solution
   * @param rank whether it is right
   * @param q how far A'z is from R'(Q'z) for kept reflectors and random z, over ||a_j|| ||z||; 0 if
   *     there are none
   */
  public record Off(double gram, double x, Rank rank, double q) {}

  /** How ranks compare. */
  public enum Rank {
    /** The same. */
    SAME,
    /**
     * Another, by pivots of less than the root of c eps ||a_j|| that are above the tolerance: R'R
     * has their squares, which no sum of squares tells from rounding errors.
     */
    UNDECIDED,
    /** Another. */
    WRONG
  }

  /** Compares. */
  public Off off(SubtreeFactor f) {
    double[][] g = gramOf(f);
    boolean[] without = dead(f);
    double worst = 0;
    for (int i = 0; i < n + rhs; i++) {
      for (int j = 0; j < n + rhs; j++) {
        double size = norm[i] * norm[j];
        double dropped = 0;
        if (i < n && (dead[i] || without[i])) {
          dropped += tolerance * norm[j];
        }
        if (j < n && (dead[j] || without[j])) {
          dropped += tolerance * norm[i];
        }
        double change = Math.max(0, Math.abs(g[i][j] - gram[i][j]) - dropped);
        change = Double.isNaN(g[i][j]) ? Double.NaN : size == 0 ? change : change / size;
        change *= i < n == j < n ? 1 : ColumnProbe.right(rhs);
        worst = !(change <= worst) && !Double.isNaN(worst) ? change : worst;
      }
    }
    return new Off(worst, xOff(f), rankOff(f), qOff(f));
  }

  /** Decided by the pivots that are live in only one of the two. */
  private Rank rankOff(SubtreeFactor f) {
    if (rank(f) == rank) {
      return Rank.SAME;
    }
    double[] now = pivots(f);
    for (int j = 0; j < n; j++) {
      double live = Math.max(now[j], pivot[j]);
      boolean undecided = live > tolerance && live * live <= limit * norm[j] * norm[j];
      if ((now[j] == 0) != (pivot[j] == 0) && !undecided) {
        return Rank.WRONG;
      }
    }
    return Rank.UNDECIDED;
  }

  /** By position; 0 where there is none. */
  private double[] pivots(SubtreeFactor f) {
    double[] all = new double[n];
    for (FrontFactor front : f.fronts()) {
      int at = 0;
      for (int k : front.livePivot()) {
        all[problem.analysis().column(front.front(), k)] = front.values().get(at);
        at += front.fn() - k;
      }
    }
    return all;
  }

  private double xOff(SubtreeFactor f) {
    double[] other = solve(f);
    double worst = 0;
    for (int q = 0; q < rhs; q++) {
      double size = 0;
      double change = 0;
      for (int j = 0; j < n; j++) {
        size = Math.hypot(size, x[j * rhs + q]);
        change = Math.hypot(change, other[j * rhs + q] - x[j * rhs + q]);
      }
      double part = change == 0 ? 0 : change / size;
      worst = !(part <= worst) ? part : worst;
    }
    return worst;
  }

  /** For some random z: R'(Q'z) against A'z, and the norm. */
  private double qOff(SubtreeFactor f) {
    if (f.reflectors().isEmpty()) {
      return 0;
    }
    RowBlock r = problem.rows();
    double[] z = TestMatrices.vector(r.rows() * Z, new Random(n));
    var run =
        new TaskReflection(problem.analysis(), problem.fronts(), r.front(), z, Z, false, List.of());
    f.reflectors().forEach(run::run);
    double[] turned = run.values();
    double worst = 0;
    for (int q = 0; q < Z; q++) {
      double[] difference = transposedTimes(z, q);
      double given = 0;
      for (int i = 0; i < r.rows(); i++) {
        given += z[i * Z + q] * z[i * Z + q];
      }
      double left = run.residual()[q] * run.residual()[q];
      for (int k = q; k < turned.length; k += Z) {
        left += turned[k] * turned[k];
      }
      worst = Math.max(worst, Math.abs(given - left) / given);
      int row = 0;
      for (FrontFactor front : f.fronts()) {
        int at = 0;
        for (int i = 0; i < front.rank(); i++) {
          double y = turned[row++ * Z + q];
          for (int k = front.livePivot()[i]; k < front.fn(); k++) {
            difference[problem.analysis().column(front.front(), k)] -= front.values().get(at++) * y;
          }
        }
      }
      for (int j = 0; j < n; j++) {
        double dropped = dead[j] ? tolerance * Math.sqrt(given) : 0;
        double change = Math.abs(difference[j]) - dropped;
        worst = Math.max(worst, norm[j] == 0 ? 0 : change / (norm[j] * Math.sqrt(given)));
      }
    }
    return worst;
  }

  /** A'z. */
  private double[] transposedTimes(double[] z, int q) {
    double[] g = new double[n];
    RowBlock r = problem.rows();
    for (int i = 0; i < r.rows(); i++) {
      for (int e = r.rowStart()[i]; e < r.rowStart()[i + 1]; e++) {
        g[r.position()[e]] += r.value()[e] * z[i * Z + q];
      }
    }
    return g;
  }

  /** The quantity whose error is too large; null: there is none. */
  public String wrong(Off off) {
    if (!(off.gram <= limit)) {
      return "R'R";
    }
    if (off.rank == Rank.WRONG) {
      return "rank";
    }
    if (condition < CONDITION && !(off.x <= X)) {
      return "x";
    }
    return off.q <= limit ? null : "Q";
  }

  private static long rank(SubtreeFactor f) {
    return f.fronts().stream().mapToLong(FrontFactor::rank).sum();
  }

  private double[][] gramOfRows() {
    double[][] g = new double[n + rhs][n + rhs];
    RowBlock r = problem.rows();
    double[] row = new double[n + rhs];
    int[] at = new int[n + rhs];
    for (int i = 0; i < r.rows(); i++) {
      int count = 0;
      for (int e = r.rowStart()[i]; e < r.rowStart()[i + 1]; e++) {
        at[count] = r.position()[e];
        row[count++] = r.value()[e];
      }
      for (int q = 0; q < rhs; q++) {
        at[count] = n + q;
        row[count++] = r.rhs()[i * rhs + q];
      }
      add(g, at, row, count);
    }
    addBlocks(g, problem.inputs());
    return g;
  }

  private void addBlocks(double[][] g, List<ContributionBlock> blocks) {
    SymbolicAnalysis a = problem.analysis();
    double[] row = new double[n + rhs];
    int[] at = new int[n + rhs];
    for (ContributionBlock b : blocks) {
      int from = 0;
      for (int i = 0; i < b.cm(); i++) {
        int count = 0;
        for (int k = i; k < b.cn(); k++) {
          at[count] = a.column(b.front(), a.fp(b.front()) + k);
          row[count++] = b.values()[from++];
        }
        for (int q = 0; q < rhs; q++) {
          at[count] = n + q;
          row[count++] = b.rhs()[i * rhs + q];
        }
        add(g, at, row, count);
      }
    }
  }

  private static void add(double[][] g, int[] at, double[] row, int count) {
    for (int k = 0; k < count; k++) {
      for (int l = 0; l < count; l++) {
        g[at[k]][at[l]] += row[k] * row[l];
      }
    }
  }

  private double[][] gramOf(SubtreeFactor f) {
    double[][] g = new double[n + rhs][n + rhs];
    SymbolicAnalysis a = problem.analysis();
    int[] at = new int[n + rhs];
    double[] row = new double[n + rhs];
    for (FrontFactor front : f.fronts()) {
      int from = 0;
      for (int i = 0; i < front.rank(); i++) {
        int count = 0;
        for (int k = front.livePivot()[i]; k < front.fn(); k++) {
          at[count] = a.column(front.front(), k);
          row[count++] = front.values().get(from++);
        }
        for (int q = 0; q < rhs; q++) {
          at[count] = n + q;
          row[count++] = front.rhs()[i * rhs + q];
        }
        add(g, at, row, count);
      }
    }
    addBlocks(g, f.outputs());
    for (int q = 0; q < rhs; q++) {
      g[n + q][n + q] += f.residualSquares()[q];
      // Of two residuals only the norms are known.
      for (int p = 0; p < q; p++) {
        g[n + q][n + p] = gram[n + q][n + p];
        g[n + p][n + q] = gram[n + p][n + q];
      }
    }
    return g;
  }

  private boolean[] dead(SubtreeFactor f) {
    boolean[] all = new boolean[n];
    for (FrontFactor front : f.fronts()) {
      for (int k = 0; k < problem.analysis().fp(front.front()); k++) {
        all[problem.analysis().column(front.front(), k)] = true;
      }
      for (int k : front.livePivot()) {
        all[problem.analysis().column(front.front(), k)] = false;
      }
    }
    return all;
  }

  private double[][] denseR(SubtreeFactor f) {
    double[][] r = new double[n][n];
    for (FrontFactor front : f.fronts()) {
      int at = 0;
      for (int k : front.livePivot()) {
        int p = problem.analysis().column(front.front(), k);
        for (int j = k; j < front.fn(); j++) {
          int column = problem.analysis().column(front.front(), j);
          r[p][column] = front.values().get(at++) / norm[column];
        }
      }
    }
    return r;
  }

  private double[] solve(SubtreeFactor f) {
    double[] all = new double[n * rhs];
    SymbolicAnalysis a = problem.analysis();
    for (int k = f.fronts().size() - 1; k >= 0; k--) {
      FrontFactor front = f.fronts().get(k);
      double[] local = new double[front.fn() * rhs];
      FrontSolve.gather(a, front.front(), rhs, all, local);
      FrontSolve.backSubstitute(front, front.rhs(), rhs, local, a.fp(front.front()));
      FrontSolve.scatter(a, front.front(), rhs, local, all, 0, a.fp(front.front()));
    }
    return all;
  }

  /** Largest singular value by powers of R'R over the smallest by inverse powers. */
  private double condition(double[][] r) {
    double[] v = new double[n];
    double[] w = new double[n];
    Arrays.setAll(v, j -> ColumnProbe.hash(j));
    Arrays.setAll(w, j -> ColumnProbe.hash(n + j));
    double most = 0;
    double least = 0;
    for (int k = 0; k < 60; k++) {
      most = Math.sqrt(normalized(transposedTimes(r, times(r, v))));
      v = last;
      least = Math.sqrt(normalized(inverse(r, transposedInverse(r, w))));
      w = last;
    }
    return most * least;
  }

  private double[] last;

  private double normalized(double[] y) {
    double size = 0;
    for (double t : y) {
      size = Math.hypot(size, t);
    }
    for (int j = 0; j < n; j++) {
      y[j] /= size;
    }
    last = y;
    return size;
  }

  private double[] times(double[][] r, double[] v) {
    double[] y = new double[n];
    for (int i = 0; i < n; i++) {
      for (int j = i; j < n; j++) {
        y[i] += r[i][j] * v[j];
      }
    }
    return y;
  }

  private double[] transposedTimes(double[][] r, double[] v) {
    double[] y = new double[n];
    for (int i = 0; i < n; i++) {
      for (int j = i; j < n; j++) {
        y[j] += r[i][j] * v[i];
      }
    }
    return y;
  }

  private double[] inverse(double[][] r, double[] v) {
    double[] y = v.clone();
    for (int i = n - 1; i >= 0; i--) {
      for (int j = i + 1; j < n; j++) {
        y[i] -= r[i][j] * y[j];
      }
      y[i] /= r[i][i];
    }
    return y;
  }

  private double[] transposedInverse(double[][] r, double[] v) {
    double[] y = v.clone();
    for (int i = 0; i < n; i++) {
      y[i] /= r[i][i];
      for (int j = i + 1; j < n; j++) {
        y[j] -= r[i][j] * y[i];
      }
    }
    return y;
  }

  /** The probe's norm as {@link Balance} bounds it, from the Gram matrix. */
  private double probeNorm() {
    double columns = 0;
    double right = 0;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        columns += gram[i][j] * ColumnProbe.scale(i, norm[i]) * ColumnProbe.scale(j, norm[j]);
      }
      for (int q = 0; q < rhs; q++) {
        double s = ColumnProbe.right(rhs) * ColumnProbe.scale(-1 - q, norm[n + q]);
        right += gram[i][n + q] * ColumnProbe.scale(i, norm[i]) * s;
      }
    }
    double squares = columns + right + Math.abs(right) + ColumnProbe.rightSquares(rhs);
    return Math.sqrt(Math.max(1, squares));
  }
}
