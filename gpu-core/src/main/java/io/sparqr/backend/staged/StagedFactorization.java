/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.HeldBlocks;
import io.sparqr.backend.staged.layout.KeptPlans;
import io.sparqr.backend.staged.layout.PreparedTask;
import io.sparqr.backend.staged.layout.StageEstimate;
import io.sparqr.backend.staged.layout.StageLayouts;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.solve.LeavingBlocks;
import io.sparqr.backend.staged.solve.StageSolve;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.SubtreeSolution;
import io.sparqr.numeric.WorkListener;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.integrity.GivenValues;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Later;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Factors a subtree task on a {@link RoundExecutor}: memory stages, rounds, rows of R, contribution
 * blocks between stages through host memory, and new triangularisations of fronts with dead
 * columns. The same for every executor.
 *
 * <p>Stages (SQR section 3.4): a stage is the longest prefix of the remaining postorder whose
 * fronts, entries, output and input blocks fit the memory ({@link StageEstimate}); blocks of fronts
 * whose parent is in a later stage go to the host and back.
 *
 * <p>A stage with dead columns is completed on the host, and some of its fronts return to the
 * executor in the next one ({@link StageCompletion}).
 *
 * <p>While a stage is under way the next one is laid out, as if all pivots turned out live; if they
 * do not, it is laid out again ({@link StageLayouts}).
 *
 * <p>Bits depend on the problem, the executor and its {@link SchedulerOptions}, not on the memory
 * budget and not on the number of threads. Not thread-safe.
 */
public final class StagedFactorization {

  private final RoundExecutor executor;
  private final SubtreeFactorizer host;
  private final String backend;

  /** What tasks before the first one here have left. */
  private final KeptPlans<PreparedTask> kept;

  /** The last task's structure and its stages, for the next one of the same structure. */
  private @Nullable PreparedTask prepared;

  /** Stages of the last task that were laid out while the one before was under way. */
  private int laidOutAhead;

  /** Checksums of the last task's input, once there was a task. */
  private @Nullable GivenValues given;

  /**
   * A driver for an executor.
   *
   * @param backend name for the report
   * @param executor runs the rounds; not closed here
   * @param host triangularises fronts with dead columns; its results are checked here; not closed
   *     here
   */
  public StagedFactorization(String backend, RoundExecutor executor, SubtreeFactorizer host) {
    this(backend, executor, host, new KeptPlans<>());
  }

  /** The same, with plans that others have left, until {@link #keepPlans}. */
  public StagedFactorization(
      String backend,
      RoundExecutor executor,
      SubtreeFactorizer host,
      KeptPlans<PreparedTask> kept) {
    this.kept = kept;
    this.backend = backend;
    this.executor = executor;
    this.host = new CheckedFactorizer(host, host);
  }

  /**
   * Factors a task; each stage must preserve the column sums of its input ({@link StageBalance}).
   *
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if a stage does not
   * @throws io.sparqr.error.NumericalIntegrityException if a front factored by the host fails the
   *     check twice
   * @throws InsufficientMemoryException if one front with its inputs does not fit, unless it has
   *     far more rows than columns: the host merges those
   */
  public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
    if (options.safe() && given != null && given.isOf(problem)) {
      given.verifyBlocks();
    } else {
      given = new GivenValues(problem, options.threads());
    }
    if (options.safe()) {
      // A repeated task must not reuse earlier data.
      prepared = null;
    }
    return new Run(problem, options).run();
  }

  /** Leaves the plan of the last task to others; there are no more tasks here. */
  public void keepPlans() {
    if (prepared != null) {
      kept.keep(prepared);
      prepared = null;
    }
  }

  /** Stages of the last task that were laid out while the one before was under way. */
  public int laidOutAhead() {
    return laidOutAhead;
  }

  /** Implements {@link SubtreeFactorizer#verifyGiven}. */
  public void verifyGiven(SubtreeProblem problem) {
    if (given != null && given.isOf(problem)) {
      given.verify();
    }
  }

  /** The state of one factorization. */
  private final class Run {

    private final SubtreeProblem problem;
    private final SymbolicAnalysis analysis;
    private final FactorOptions options;
    private final WorkListener work;
    private final RowsByFront rows;

    private final HeldBlocks blocks;
    private final FactoredFronts done;
    private final StageEstimate estimate;
    private final StageLayouts layouts;
    private final RowRooms rooms;
    private final StageTotals totals = new StageTotals();
    private final StageCompletion completion;
    private int[] pending;
    private long budget;

    Run(SubtreeProblem problem, FactorOptions options) {
      this.problem = problem;
      // The host's work is part of a stage, which reports the progress.
      this.options = options.heardBy(WorkListener.NONE);
      this.work = options.work();
      analysis = problem.analysis();
      budget = executor.availableBytes();
      if (options.deviceMemoryBytes() > 0) {
        budget = Math.min(budget, options.deviceMemoryBytes());
      }
      SchedulerOptions cut = executor.schedulerOptions();
      if (options.keepQ()) {
        // a small front's task leaves no V behind
        cut = cut.withSmallFronts(0, 0);
      }
      // Free memory varies slightly between calls, so an earlier plan for slightly less is still
      // good.
      long planBudget = options.deviceMemoryBytes() > 0 ? budget : 0;
      prepared = prepared(cut, planBudget);
      rows = prepared.rows.withValues(problem.rows());
      blocks = new HeldBlocks(analysis, problem.inputs(), options.threads());
      done = new FactoredFronts(problem, rows, blocks, options.keepQ());
      estimate = new StageEstimate(analysis, rows, cut, options);
      layouts = new StageLayouts(prepared, estimate);
      rooms = new RowRooms(options.memory(), options.threads());
      completion =
          new StageCompletion(
              executor,
              host,
              analysis,
              this.options,
              rows,
              Objects.requireNonNull(given),
              done,
              totals);
      pending = problem.fronts().clone();
      executor.task(problem);
    }

    /** This task's plan: the last one's, one that others left, or a new one. */
    private PreparedTask prepared(SchedulerOptions cut, long planBudget) {
      if (prepared != null && prepared.serves(problem, options, cut, planBudget)) {
        return prepared;
      }
      // A repeated task must not reuse earlier data.
      Optional<PreparedTask> left =
          options.safe()
              ? Optional.empty()
              : kept.take(plan -> plan.serves(problem, options, cut, planBudget));
      return left.orElseGet(() -> new PreparedTask(problem, options, cut, planBudget));
    }

    SubtreeFactor run() {
      long began = System.nanoTime();
      executor.safe(options.safe());
      executor.timed(work.wantsTimelines());
      while (pending.length > 0) {
        stage();
      }
      laidOutAhead = layouts.laidOutAhead();
      executor.remark().ifPresent(done::warn);
      double seconds = (System.nanoTime() - began) * 1e-9;
      int fronts = problem.fronts().length;
      return done.result(totals.summary(backend, executor.device(), fronts, done, seconds));
    }

    /** Builds (or reuses) and runs one stage; its unfinished fronts stay pending. */
    private void stage() {
      PreparedTask.Stage stage = layouts.known(totals.stages(), pending, blocks, budget);
      int count = stage == null ? estimate.prefix(pending, blocks, budget) : stage.fronts().length;
      while (true) {
        int[] fronts = Arrays.copyOf(pending, count);
        if (stage == null) {
          stage = layouts.laidOut(fronts, blocks, budget);
          if (stage == null) {
            mergeOnHost(pending[0]);
            return;
          }
          if (stage.program().deviceBytes() > budget) {
            count = shrink(count, stage.program().deviceBytes());
            stage = null;
            continue;
          }
        }
        List<ContributionBlock> in = blocks.inputs(fronts);
        var unchanged =
            new Later<>(
                () -> {
                  blocks.verify(in);
                  return true;
                });
        StageProgram program = stage.program();
        var balance = new StageBalance(program, fronts, rows, in, options);
        var values = new StageValues(rows, fronts, in, given);
        boolean solves = StageSolve.stays(executor, program, problem, options);
        boolean alone = !solves && StageSolve.alone(executor, program, problem, options);
        if (totals.stages() == 0 && count < pending.length) {
          rooms.beginLargest(analysis, pending);
        }
        var sink =
            new StageRows(
                program,
                fronts,
                done,
                options.rankTolerance(),
                options.threads(),
                rooms,
                solves || alone,
                () -> {
                  unchanged.begin();
                  balance.lookAhead(executor);
                  StageSolve.ahead(executor, program, problem, options, solves);
                  lookAhead(program, fronts);
                });
        RoundExecutor.Result result;
        try {
          result = executor.execute(program, values, options.rankTolerance(), sink);
        } catch (InsufficientMemoryException e) {
          budget = Math.min(budget, program.deviceBytes() - 1);
          if (count == 1 && estimate.isTall(pending[0], blocks)) {
            mergeOnHost(pending[0]);
            return;
          }
          count = shrink(count, program.deviceBytes());
          stage = null;
          continue;
        }
        if (work.wantsTimelines() && !executor.timelines().isEmpty()) {
          work.ran(executor.timelines());
        }
        // After the upload, because they might have changed before it, while the executor works.
        unchanged.get();
        layouts.ran(totals.stages(), stage);
        totals.ran(program, result);
        long read = values.bits() + program.sBits();
        var finished = new FinishedStage(program, fronts, result, balance, read, sink);
        if (solves || alone) {
          if (stayed(finished, solves)) {
            return;
          }
          executor.deliver(program, sink);
          totals.downloaded(program.outDoubles());
        }
        leave(fronts, completion.complete(finished));
        long bits = sink.bits() - sink.blockBits();
        done.resident(StageSolve.reside(executor, program, fronts, problem, options, result, bits));
        return;
      }
    }

    /** Lays out the next stage while one is under way, and begins with memory for its rows. */
    private void lookAhead(StageProgram program, int[] fronts) {
      int[] rest = Arrays.copyOfRange(pending, fronts.length, pending.length);
      PreparedTask.Stage next =
          layouts.ahead(totals.stages() + 1, rest, blocks.after(program, fronts), budget);
      if (next != null) {
        rooms.begin(next.program(), next.fronts());
      }
    }

    /**
     * Leaves the rows of a checked stage where they are; false if they are needed: the stage is not
     * sound, the check does not confirm it, or there is no room for them.
     *
     * @param solves whether they are only needed for a solve now, not for later ones
     */
    private boolean stayed(FinishedStage stage, boolean solves) {
      StageProgram program = stage.program();
      int[] fronts = stage.fronts();
      RoundExecutor.Result result = stage.result();
      StageBalance balance = stage.balance();
      if (!StageSolve.sound(result)) {
        return false;
      }
      RoundExecutor.Compared found = balance.compare(executor, stage.ended(), stage.read());
      if (!balance.within(found.departure())) {
        return false;
      }
      if (solves) {
        SubtreeSolution solution = StageSolve.run(executor, program);
        totals.downloaded(solution.x().length);
        done.solved(solution);
      } else {
        List<ContributionBlock> leaving = LeavingBlocks.copy(executor, program, fronts);
        long bits = found.bitsOut();
        for (ContributionBlock b : leaving) {
          done.blocks.put(b);
          bits -= done.blocks.bits(b.front());
        }
        Residence there =
            StageSolve.reside(executor, program, fronts, problem, options, result, bits);
        if (there.factor().isEmpty()) {
          return false;
        }
        totals.downloaded(LeavingBlocks.doubles(leaving));
        done.resident(Residence.alone(there.factor().get()));
      }
      totals.departed(found.departure());
      for (int f = 0; f < fronts.length; f++) {
        stage.addResidual(f, done);
      }
      leave(fronts, new boolean[fronts.length]);
      return true;
    }

    /** Factors a front too large for memory at once: the host merges its rows in chunks. */
    private void mergeOnHost(int front) {
      done.warn(
          "front "
              + front
              + " ("
              + analysis.fn(front)
              + " columns) has more rows than the device takes: the host has merged them");
      completion.factorOnHost(new int[] {front});
      leave(new int[] {front}, new boolean[1]);
    }

    private int shrink(int count, long required) {
      if (count == 1) {
        throw new InsufficientMemoryException(
            "front "
                + pending[0]
                + " and what goes into it need "
                + required
                + " bytes, the budget is "
                + budget,
            required,
            budget);
      }
      return StageLayouts.fewer(count, required, budget);
    }

    /**
     * Keeps some of a stage's fronts pending, before all fronts not yet in a stage; the others are
     * done.
     */
    private void leave(int[] fronts, boolean[] pends) {
      int left = 0;
      double over = 0;
      int[] next = new int[pending.length];
      for (int f = 0; f < fronts.length; f++) {
        if (pends[f]) {
          next[left++] = fronts[f];
        } else {
          over += analysis.frontFlops(fronts[f]);
          blocks.dropChildren(fronts[f]);
        }
      }
      int rest = pending.length - fronts.length;
      System.arraycopy(pending, fronts.length, next, left, rest);
      pending = Arrays.copyOf(next, left + rest);
      work.done(over);
    }
  }
}
