/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.staged.layout.HeldBlocks;
import io.sparqr.numeric.CompensatedSums;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.SubtreeSolution;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The partial result of a task: rows of R, Q if it is kept, residual; {@link HeldBlocks} has the
 * blocks. Fronts may be added by several threads, each front once.
 */
final class FactoredFronts {

  private final SubtreeProblem problem;
  private final RowsByFront rows;
  final HeldBlocks blocks;
  private final int rhs;

  /** By place in the task's list. */
  final FrontFactor[] factor;

  /** By place; none unless Q is kept. */
  private final FrontReflectors[] reflectors;

  private final CompensatedSums residual;

  /** All fronts are done, and their rows are not needed. */
  private Optional<SubtreeSolution> solution = Optional.empty();

  private Residence residence = Residence.NONE;
  private double dropped;
  private double departure;
  private long redone;
  private final List<String> warnings = new ArrayList<>();

  FactoredFronts(SubtreeProblem problem, RowsByFront rows, HeldBlocks blocks, boolean keepQ) {
    this.problem = problem;
    this.rows = rows;
    this.blocks = blocks;
    rhs = problem.rows().rhsCount();
    int fronts = problem.fronts().length;
    factor = new FrontFactor[fronts];
    reflectors = new FrontReflectors[keepQ ? fronts : 0];
    residual = new CompensatedSums(rhs);
  }

  /**
   * Adds a sound front's rows of R, and its block if that leaves the stage (else null).
   *
   * @param blockBits the block's checksum
   */
  void put(FrontFactor f, @Nullable ContributionBlock block, long blockBits) {
    if (block == null) {
      blocks.remove(f.front());
    } else {
      blocks.put(block, blockBits);
    }
    factor[rows.place(f.front())] = f;
  }

  /** Adds Q of a front. */
  void put(FrontReflectors q) {
    reflectors[rows.place(q.front())] = q;
  }

  /** Marks a sound front as done; without rows added it has none. */
  void withoutRows(int front) {
    int at = rows.place(front);
    if (factor[at] == null) {
      int fn = problem.analysis().fn(front);
      factor[at] = new FrontFactor(front, fn, new int[0], new double[0], new double[0], rhs);
    }
  }

  /** Marks the task as solved where its rows are. */
  void solved(SubtreeSolution s) {
    solution = Optional.of(s);
  }

  /** Sets whether R has stayed on the executor; if alone, all fronts are done. */
  void resident(Residence r) {
    residence = r;
  }

  /** Adds the squares at {@code from} .. + rhs. */
  void addResidual(double[] squares, int from) {
    residual.add(squares, from);
  }

  /** Adds fronts that the host factored from their rows. */
  void put(SubtreeFactor host) {
    host.reflectors().forEach(this::put);
    putRows(host);
  }

  /**
   * Adds fronts that the host triangularised again from their R; their first Q, if kept, must have
   * been added.
   */
  void putAgain(SubtreeFactor host) {
    for (FrontReflectors q : host.reflectors()) {
      put(Retriangularization.composed(reflectors[rows.place(q.front())], q));
    }
    putRows(host);
  }

  private void putRows(SubtreeFactor host) {
    for (FrontFactor f : host.fronts()) {
      put(f.sealed(), null, 0);
    }
    host.outputs().forEach(blocks::put);
    addResidual(host.residualSquares(), 0);
    FactorSummary s = host.summary();
    dropped = Math.hypot(dropped, s.droppedNorm());
    departure = Math.max(departure, s.normDeparture());
    redone += s.redoneTasks();
    warnings.addAll(s.warnings());
  }

  /** Adds the values dropped by an executor, if any. */
  void addDropped(double @Nullable [] values) {
    for (int k = 0; values != null && k < values.length; k++) {
      dropped = Math.hypot(dropped, values[k]);
    }
  }

  /** Largest departure of column sums in the host's work. */
  double normDeparture() {
    return departure;
  }

  /** Number of tasks repeated by the host. */
  long redoneTasks() {
    return redone;
  }

  /** Adds a warning to the report. */
  void warn(String what) {
    warnings.add(what);
  }

  /** The warnings, including the host's. */
  List<String> warnings() {
    return warnings;
  }

  /** Live pivots of all fronts; all are done. */
  long rank() {
    if (residence.alone()) {
      return pivots();
    }
    return solution.isPresent()
        ? solution.get().rank()
        : Arrays.stream(factor).mapToLong(FrontFactor::rank).sum();
  }

  private long pivots() {
    long pivots = 0;
    for (int f : problem.fronts()) {
      pivots += problem.analysis().fp(f);
    }
    return pivots;
  }

  /** Norm of the part dropped below the tolerance. */
  double droppedNorm() {
    return dropped;
  }

  /**
   * The result, with the blocks whose parent is not in the task.
   *
   * @throws IntegrityFailure if a bit of a block has changed since it was added
   */
  SubtreeFactor result(FactorSummary summary) {
    var outputs = new ArrayList<ContributionBlock>();
    for (int f : problem.fronts()) {
      int p = problem.analysis().parent(f);
      ContributionBlock b = blocks.get(f);
      if (b != null && b.cm() > 0 && (p < 0 || !rows.has(p))) {
        outputs.add(b);
      }
    }
    blocks.verify(outputs);
    return new SubtreeFactor(
        solution.isPresent() || residence.alone() ? List.of() : Arrays.asList(factor),
        outputs,
        residual.values(),
        summary,
        Arrays.asList(reflectors),
        solution,
        residence);
  }
}
