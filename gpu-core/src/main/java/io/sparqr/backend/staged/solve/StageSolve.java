/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageColumns;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.SubtreeSolution;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.util.Optional;

/**
 * R of a stage that is a whole task, left on the executor: for R x = Q'b alone, if the stage has
 * all columns of its tree, so that R itself is not needed; or for later solves.
 */
public final class StageSolve {

  private StageSolve() {}

  /** Whether the rows of a stage may stay on the executor, for a solve there. O(fronts). */
  public static boolean stays(
      RoundExecutor executor, StageProgram program, SubtreeProblem problem, FactorOptions options) {
    return options.solutionOnly()
        && !options.safe()
        && !options.keepQ()
        && program.rhs() > 0
        && whole(program, problem)
        && program.outsideColumns() == 0
        && executor.solves(program);
  }

  /**
   * Whether the rows of a stage, if it is sound, are to stay on the executor and nowhere else.
   * O(fronts).
   */
  public static boolean alone(
      RoundExecutor executor, StageProgram program, SubtreeProblem problem, FactorOptions options) {
    return options.alone()
        && obstacle(program, problem, options).isEmpty()
        && executor.solves(program)
        && executor.hasRoom(program);
  }

  /** Whether a stage is a whole task. */
  private static boolean whole(StageProgram program, SubtreeProblem problem) {
    return program.fronts() == problem.fronts().length;
  }

  /**
   * Leaves the rows of a finished stage, the executor's last, on the executor for later solves, if
   * that is wanted and possible.
   *
   * @param fronts of the stage
   * @param bits of the rows of R: those of the output buffer, which the executor's own sum has
   *     confirmed, less those of the blocks that leave the stage, as the host has them
   * @throws IntegrityFailure if the blocks are not the executor's
   */
  public static Residence reside(
      RoundExecutor executor,
      StageProgram program,
      int[] fronts,
      SubtreeProblem problem,
      FactorOptions options,
      RoundExecutor.Result result,
      long bits) {
    if (!options.resident()) {
      return Residence.NONE;
    }
    String obstacle = obstacle(program, problem, options);
    if (obstacle.isEmpty() && !sound(result)) {
      obstacle = "columns depend on others";
    }
    if (!obstacle.isEmpty()) {
      return Residence.none(obstacle);
    }
    Optional<KeptRows> kept = executor.keep(program);
    if (kept.isEmpty()) {
      return Residence.none("no room for R on the device");
    }
    KeptRows rows = kept.get();
    boolean done = false;
    try {
      done = !leaves(program) || LeavingBlocks.confirmed(rows, bits);
    } finally {
      if (!done) {
        rows.close();
      }
    }
    return done
        ? Residence.of(new CheckedRows(rows, FrontPlaces.of(program, fronts), bits))
        : Residence.none("its memory on the device was needed");
  }

  /** Whether a block leaves the stage. O(fronts). */
  private static boolean leaves(StageProgram program) {
    for (int f = 0; f < program.fronts(); f++) {
      if (LeavingBlocks.values(program.descriptor(f)) > 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Announces the solves that may follow a stage's rounds, while those run.
   *
   * @param stays whether the rows stay there for the solve
   */
  public static void ahead(
      RoundExecutor executor,
      StageProgram program,
      SubtreeProblem problem,
      FactorOptions options,
      boolean stays) {
    if (stays) {
      executor.solveAhead(program, false);
    } else if (options.resident() && obstacle(program, problem, options).isEmpty()) {
      executor.solveAhead(program, true);
    }
  }

  /** Why the rows of a stage cannot stay, as far as its structure tells; empty: they can. */
  private static String obstacle(
      StageProgram program, SubtreeProblem problem, FactorOptions options) {
    if (options.safe() || options.keepQ()) {
      return options.keepQ() ? "Q is kept" : "the task was done again";
    }
    if (!whole(program, problem)) {
      return "R took several stages of the device's memory";
    }
    if (!tailsLeave(program) || !SolveLists.possible(program)) {
      return "its tree has a form that the device does not solve with";
    }
    return "";
  }

  /** Whether the tail of every front without a parent has no pivot of the stage. */
  private static boolean tailsLeave(StageProgram program) {
    StageColumns columns = program.columns();
    int pivots = columns.count() - program.outsideColumns();
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      int from = columns.start()[f] + d.fp();
      for (int k = from; d.parent() < 0 && k < from + d.cn(); k++) {
        if (columns.number()[k] < pivots) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether every pivot of a stage is live. */
  public static boolean sound(RoundExecutor.Result result) {
    for (int state : result.state()) {
      if (state != TaskLayout.STATE_SOUND) {
        return false;
      }
    }
    return true;
  }

  /**
   * Solves for a sound stage, the executor's last.
   *
   * @throws IntegrityFailure if the backward error is larger than rounding explains
   */
  public static SubtreeSolution run(RoundExecutor executor, StageProgram program) {
    RoundExecutor.Solved solved = executor.backSubstitute(program);
    int columns = 0;
    int rank = 0;
    long entries = 0;
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      columns = Math.max(columns, d.fn());
      rank += d.fp();
      entries += d.packedDoubles(0, d.fp()) - (long) d.fp() * d.rhs();
    }
    if (!(solved.backwardError() <= bound(columns))) {
      throw new IntegrityFailure(
          "back substitution has the backward error %.2e".formatted(solved.backwardError()));
    }
    return new SubtreeSolution(solved.x(), rank, entries);
  }

  /**
   * Twice the bound of back substitution with fronts of n columns, n u (Higham, Accuracy and
   * Stability of Numerical Algorithms, Theorem 8.5): as much again for the rounding of the error
   * itself.
   */
  static double bound(int columns) {
    return (columns + 8) * Math.ulp(1.0);
  }
}
