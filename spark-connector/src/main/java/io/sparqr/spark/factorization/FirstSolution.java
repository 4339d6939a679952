/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.numeric.Probe;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.Norms;
import io.sparqr.spark.solve.SolveInTask;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The first solve with R, right after the factorization: R x = Q'b and, in the same reading of R, R
 * z = w for the {@link Probe}, which the review of the rank needs.
 */
public final class FirstSolution {

  /**
   * The solution may take this fraction of the driver's heap until it is asked for, as 1 / share.
   */
  private static final int SHARE = 16;

  /** Unless there is no room for it, the factorization was loaded, or it was taken. */
  private double @Nullable [] x;

  /** Unless it is the last column of x, or only its norm is known. */
  private final double @Nullable [] probe;

  /** Of the probe's solution, if nothing else of it is known. */
  private final OptionalDouble norm;

  private final int width;

  private FirstSolution(
      double @Nullable [] x, double @Nullable [] probe, OptionalDouble norm, int width) {
    this.x = x;
    this.probe = probe;
    this.norm = norm;
    this.width = width;
  }

  /** Of a loaded factorization, with which nothing has been solved yet. */
  static FirstSolution none() {
    return new FirstSolution(null, new double[0], OptionalDouble.empty(), 1);
  }

  /**
   * Solves.
   *
   * @param solved whether the tasks have solved already, as {@link SolveInTask#of} says
   */
  public static FirstSolution of(
      SolvePlan plan, LevelSolve solve, SingletonRows singletons, boolean solved, JobScope scope) {
    int rhs = plan.numbers().rhsCount();
    int width = rhs + Probe.COUNT;
    if (solved && SolveInTask.of(plan) == SolveInTask.WITH_NORM) {
      double[] x = plan.vector(rhs);
      return new FirstSolution(x, null, OptionalDouble.of(solve.solved(x)), rhs);
    }
    if (!solved && !fits(plan)) {
      double[] probe = probe(plan, solve, singletons, scope);
      return new FirstSolution(null, probe, OptionalDouble.empty(), width);
    }
    return new FirstSolution(
        stored(plan, solve, singletons, scope), null, OptionalDouble.empty(), width);
  }

  /** Whether the driver's heap has room for the solution until it is asked for. */
  public static boolean fits(SolvePlan plan) {
    long width = plan.numbers().rhsCount() + Probe.COUNT;
    long bytes = Double.BYTES * plan.analysis().columns() * width;
    return bytes <= Runtime.getRuntime().maxMemory() / SHARE;
  }

  private double[] there() {
    return Objects.requireNonNull(x, "taken");
  }

  /**
   * Size n by position: R^-1 w, a copy. Before x is taken. O(n).
   *
   * @throws IllegalStateException if only its norm is known
   */
  public double[] probe() {
    if (norm.isPresent()) {
      throw new IllegalStateException("the tasks have kept the norm of the probe alone");
    }
    if (probe != null) {
      return probe.clone();
    }
    double[] last = there();
    double[] w = new double[last.length / width];
    Arrays.setAll(w, p -> last[p * width + width - 1]);
    return w;
  }

  /** ||R^-1 w||, for columns of norm 1 in R. Before x is taken. */
  public double probeNorm() {
    if (norm.isPresent()) {
      return norm.getAsDouble();
    }
    return probe != null
        ? Norms.norm(probe, 0, probe.length)
        : Norms.norm(there(), width - 1, there().length / width, width);
  }

  /** Values of a column in {@link #take}: one for each right-hand side, perhaps the probe's. */
  int width() {
    return width;
  }

  /**
   * R^-1 (Q'b, w), n x width by position, of scaled columns and right-hand sides, if it is there;
   * it is given away once.
   */
  Optional<double[]> take() {
    Optional<double[]> there = Optional.ofNullable(x);
    x = null;
    return there;
  }

  /** R^-1 (Q'b, w), n x width by position. */
  static double[] stored(
      SolvePlan plan, LevelSolve solve, SingletonRows singletons, JobScope scope) {
    int rhs = plan.numbers().rhsCount();
    int width = rhs + Probe.COUNT;
    double[] x = plan.vector(width);
    solve.backStored(x, scope);
    double[] b = new double[Math.multiplyExact(singletons.count(), width)];
    for (int p = 0; p < singletons.count(); p++) {
      System.arraycopy(singletons.rhs(), p * rhs, b, p * width, rhs);
      b[p * width + rhs] = Probe.value(p);
    }
    singletons.backSubstitute(b, x, width);
    return x;
  }

  private static double[] probe(
      SolvePlan plan, LevelSolve solve, SingletonRows singletons, JobScope scope) {
    double[] w = plan.vector(1);
    Arrays.setAll(w, Probe::value);
    solve.back(w, 1, scope);
    singletons.backSubstitute(w, w, 1);
    return w;
  }
}
