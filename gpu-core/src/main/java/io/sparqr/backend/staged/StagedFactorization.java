/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.CompensatedSums;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.SubtreeSolution;
import io.sparqr.numeric.WorkListener;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.integrity.GivenValues;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Factors a subtree task on a {@link RoundExecutor}: memory stages, rounds, rows of R, contribution
 * blocks between stages through host memory, and new triangularisations of fronts with dead
 * columns. The same for every executor.
 *
 * <p>Stages (SQR section 3.4): a stage is the longest prefix of the remaining postorder whose
 * fronts, entries, output and input blocks fit the memory ({@link StageEstimate}); blocks of fronts
 * whose parent is in a later stage go to the host and back.
 *
 * <p>Dead columns. A static schedule cannot shift rows, so it only detects: a pivot with |R_kk| at
 * most the tolerance marks its front unsound. The front is finished anyway, because A_f = QR holds
 * for any pivots; then DROP tasks at the end of its list drop the dead columns, and the fronts
 * above continue ({@link io.sparqr.backend.schedule.Task.Drop}). If a front has no DROP tasks
 * (small fronts, Q kept, fewer rows than pivots, or fewer rows than columns and no parent with DROP
 * tasks in the stage) or they find a pivot too near the tolerance, its parent gets the mark instead
 * of the block, and so does every front above it in the stage, whose tasks then do nothing. After
 * the stage, the lowest unsound fronts are triangularised again from their R, without the dead
 * columns ({@link Retriangularization}), or from their rows if a pivot is so near the tolerance
 * that rounding errors might decide; the fronts above them return to the executor in the next
 * stage, with their actual number of rows (more than at full rank, at most min(fm, cn)). So the
 * tree stays on the device.
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

  /** The last task's structure and its stages, for the next one of the same structure. */
  private PreparedTask prepared;

  /** Stages of the last task that were laid out while the one before was under way. */
  private int laidOutAhead;

  /** Checksums of the last task's input; null: no task yet. */
  private GivenValues given;

  /**
   * A driver for an executor.
   *
   * @param backend name for the report
   * @param executor runs the rounds; not closed here
   * @param host triangularises fronts with dead columns; its results are checked here; not closed
   *     here
   */
  public StagedFactorization(String backend, RoundExecutor executor, SubtreeFactorizer host) {
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
    boolean again = options.safe() && given != null && given.isOf(problem);
    if (again) {
      given.verifyBlocks();
    } else {
      given = new GivenValues(problem);
    }
    if (options.safe()) {
      // A repeated task must not reuse earlier data.
      prepared = null;
    }
    return new Run(problem, options).run();
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
    private final int rhs;

    private final HeldBlocks blocks;
    private final FactoredFronts done;
    private final StageEstimate estimate;
    private final StageLayouts layouts;
    private int[] pending;
    private long budget;
    private double flops;
    private int stages;
    private long rounds;
    private long tasks;
    private long h2d;
    private long d2h;
    private long peak;
    private double departure;

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
      if (prepared == null || !prepared.serves(problem, options, planBudget)) {
        prepared = new PreparedTask(problem, options, cut, planBudget);
      }
      rows = prepared.rows.withValues(problem.rows());
      rhs = problem.rows().rhsCount();
      blocks = new HeldBlocks(analysis, problem.inputs());
      done = new FactoredFronts(problem, rows, blocks, options.keepQ());
      estimate = new StageEstimate(analysis, rows, cut, options);
      layouts = new StageLayouts(prepared, estimate);
      pending = problem.fronts().clone();
    }

    SubtreeFactor run() {
      long began = System.nanoTime();
      executor.safe(options.safe());
      while (pending.length > 0) {
        stage();
      }
      laidOutAhead = layouts.laidOutAhead();
      double seconds = (System.nanoTime() - began) * 1e-9;
      var summary =
          new FactorSummary(
              backend,
              executor.device(),
              problem.fronts().length,
              done.rank(),
              flops,
              stages,
              rounds,
              tasks,
              h2d,
              d2h,
              peak,
              0,
              seconds,
              done.droppedNorm(),
              Math.max(departure, done.normDeparture()),
              done.redoneTasks(),
              done.warnings());
      return done.result(summary);
    }

    /** Builds (or reuses) and runs one stage; its unfinished fronts stay pending. */
    private void stage() {
      PreparedTask.Stage stage = layouts.known(stages, pending, blocks, budget);
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
        StageProgram program = stage.program();
        var balance = new StageBalance(program, fronts, rows, in, options);
        var values = new StageValues(rows, fronts, in, given);
        boolean solves = StageSolve.stays(executor, program, problem, options);
        boolean alone = !solves && StageSolve.alone(executor, program, problem, options);
        var sink =
            new StageRows(
                program,
                fronts,
                done,
                options.rankTolerance(),
                options.threads(),
                options.memory(),
                solves || alone,
                () -> {
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
        // After the upload, because they might have changed before it.
        blocks.verify(in);
        layouts.ran(stages, stage);
        account(program, result);
        long read = values.bits() + program.sBits();
        if (solves || alone) {
          if (stayed(program, fronts, result, balance, read, solves)) {
            return;
          }
          executor.deliver(program, sink);
          d2h += 8 * program.outDoubles();
        }
        complete(program, fronts, result, balance, read, sink);
        done.resident(
            StageSolve.reside(executor, program, fronts, problem, options, result, sink.bits()));
        return;
      }
    }

    /** Lays out the next stage while one is under way. */
    private void lookAhead(StageProgram program, int[] fronts) {
      int[] rest = Arrays.copyOfRange(pending, fronts.length, pending.length);
      layouts.ahead(stages + 1, rest, blocks.after(program, fronts), budget);
    }

    /**
     * Leaves the rows of a checked stage where they are; false if they are needed: the stage is not
     * sound, the check does not confirm it, or there is no room for them.
     *
     * @param solves whether they are only needed for a solve now, not for later ones
     */
    private boolean stayed(
        StageProgram program,
        int[] fronts,
        RoundExecutor.Result result,
        StageBalance balance,
        long read,
        boolean solves) {
      if (!StageSolve.sound(result)) {
        return false;
      }
      RoundExecutor.Compared found = balance.compare(executor, ended(result), read);
      if (!balance.within(found.departure())) {
        return false;
      }
      if (solves) {
        SubtreeSolution solution = StageSolve.run(executor, program);
        d2h += 8L * solution.x().length;
        done.solved(solution);
      } else {
        Residence there =
            StageSolve.reside(executor, program, fronts, problem, options, result, found.bitsOut());
        if (there.factor().isEmpty()) {
          return false;
        }
        done.resident(Residence.alone(there.factor().get()));
      }
      departure = Math.max(departure, found.departure());
      for (int f = 0; f < fronts.length; f++) {
        addResidual(program, f, result.residual(), balance);
      }
      leave(fronts, new boolean[fronts.length]);
      return true;
    }

    /** The squares of right-hand sides that end in a stage. */
    private double[] ended(RoundExecutor.Result result) {
      var ended = new CompensatedSums(rhs);
      for (int k = 0; k < result.residual().length; k += rhs) {
        ended.add(result.residual(), k);
      }
      return ended.values();
    }

    /** Factors a front too large for memory at once: the host merges its rows in chunks. */
    private void mergeOnHost(int front) {
      done.warn(
          "front "
              + front
              + " ("
              + analysis.fn(front)
              + " columns) has more rows than the device takes: the host has merged them");
      factorOnHost(new int[] {front});
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

    private void account(StageProgram program, RoundExecutor.Result result) {
      stages++;
      rounds += program.schedule().rounds();
      tasks += program.schedule().tasks();
      flops += program.schedule().flops();
      h2d += result.h2dBytes();
      d2h += result.d2hBytes();
      peak = Math.max(peak, program.deviceBytes());
    }

    /**
     * Completes a stage: sound fronts, and those whose dead columns the executor has dropped, are
     * done; the lowest of the others are triangularised again or factored from their rows, and all
     * fronts above them stay pending.
     *
     * @param read sum of the bits of the upload
     * @param sink has the downloaded rows
     */
    private void complete(
        StageProgram program,
        int[] fronts,
        RoundExecutor.Result result,
        StageBalance balance,
        long read,
        StageRows sink) {
      int n = fronts.length;
      boolean[] pends = new boolean[n];
      int[] state = states(program, result, fronts, sink);
      List<Integer> dead = lowestUnsound(program, state, pends);
      boolean[] sound = new boolean[n];
      for (int f = 0; f < n; f++) {
        sound[f] = TaskLayout.isDone(state[f]) && !pends[f];
      }
      boolean dropped = balance.leaveOut(sink, sound);
      boolean checked =
          dead.isEmpty() && !dropped && soundAndRight(program, result, balance, read, sink);
      if (!checked) {
        balance.left(executor, sound, pends, read, sink.bits(sound));
      }
      if (options.keepQ()) {
        fetchReflectors(program, fronts, pends);
      }
      var fetch = new RowFetch(executor, program, options.threads());
      var again = new Retriangularization(program, fronts, analysis, fetch, host, options);
      List<Integer> undecided =
          again.run(
              dead.stream().filter(f -> state[f] == TaskLayout.STATE_DEAD).toList(),
              (rowsOfR, factor) -> {
                balance.out(rowsOfR);
                done.putAgain(factor);
              });
      dead.stream().filter(f -> state[f] != TaskLayout.STATE_DEAD).forEach(undecided::add);
      flops += again.flops();
      boolean[] fromRows = new boolean[n];
      undecided.forEach(f -> fromRows[f] = true);
      var passOn = new ArrayList<Integer>();
      for (int f = 0; f < n; f++) {
        if (pends[f]) {
          continue;
        }
        if (!fromRows[f]) {
          addResidual(program, f, result.residual(), balance);
        }
        if (sound[f]) {
          done.withoutRows(fronts[f]);
          done.addDropped(sink.dropped(f));
          FrontDescriptor d = program.descriptor(f);
          if (d.cm() > 0 && d.parent() >= 0 && (pends[d.parent()] || fromRows[d.parent()])) {
            passOn.add(f);
          }
        }
      }
      List<ContributionBlock> passed = fetch.blocks(fronts, passOn);
      passed.forEach(blocks::put);
      if (!checked) {
        balance.out(passed);
        departure = Math.max(departure, balance.verify(fromRows));
      }
      d2h += 8 * fetch.doubles();
      factorOnHost(undecided.stream().mapToInt(f -> fronts[f]).sorted().toArray());
      leave(fronts, pends);
    }

    /**
     * Whether the executor's own comparison confirms a stage of sound fronts; if not, the sums are
     * examined on the host.
     */
    private boolean soundAndRight(
        StageProgram program,
        RoundExecutor.Result result,
        StageBalance balance,
        long read,
        StageRows sink) {
      double found = balance.whole(executor, ended(result), read, sink.bits());
      boolean right = balance.within(found);
      departure = right ? Math.max(departure, found) : departure;
      return right;
    }

    /**
     * States of the fronts, corrected: fronts that passed leftover rows to an unfinished parent
     * count as failed, because these rows are lost.
     *
     * @throws IntegrityFailure if a front reported as sound has dead columns
     */
    private static int[] states(
        StageProgram program, RoundExecutor.Result result, int[] fronts, StageRows sink) {
      int[] state = result.state().clone();
      for (int f = state.length - 1; f >= 0; f--) {
        int parent = program.descriptor(f).parent();
        if (state[f] == TaskLayout.STATE_PASSED && !TaskLayout.isDone(state[parent])) {
          state[f] = TaskLayout.STATE_FAILED;
        }
        if (state[f] == TaskLayout.STATE_SOUND && sink.dropped(f) != null) {
          throw new IntegrityFailure(
              "front %d has dead columns and was called sound".formatted(fronts[f]));
        }
      }
      return state;
    }

    /**
     * Unsound fronts with none below.
     *
     * @param pends out: fronts above them
     */
    private static List<Integer> lowestUnsound(StageProgram program, int[] state, boolean[] pends) {
      var lowest = new ArrayList<Integer>();
      for (int f = 0; f < pends.length; f++) {
        int parent = program.descriptor(f).parent();
        if (pends[f] || !TaskLayout.isDone(state[f])) {
          if (!pends[f]) {
            lowest.add(f);
          }
          if (parent >= 0) {
            pends[parent] = true;
          }
        }
      }
      return lowest;
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

    private void addResidual(StageProgram program, int f, double[] squares, StageBalance balance) {
      StageSchedule s = program.schedule();
      for (int slot = s.residualStart(f); slot < s.residualStart(f + 1); slot++) {
        done.addResidual(squares, slot * rhs);
        balance.outResidual(squares, slot * rhs);
      }
    }

    /** Fetches Q of the fronts that are not pending, assuming no dead pivot. */
    private void fetchReflectors(StageProgram program, int[] fronts, boolean[] pends) {
      var wanted = new BitSet();
      for (int f = 0; f < fronts.length; f++) {
        wanted.set(f, !pends[f]);
      }
      var fetch = new ReflectorFetch(executor, program, options.threads());
      FrontReflectors[] q = fetch.run(wanted);
      for (int f = 0; f < fronts.length; f++) {
        if (q[f] != null) {
          done.put(q[f]);
        }
      }
      d2h += 8 * fetch.doubles();
    }

    /** Factors fronts on the host, none an ancestor of another. */
    private void factorOnHost(int[] fronts) {
      if (fronts.length == 0) {
        return;
      }
      RowBlock these = rows.only(fronts);
      given.use(these);
      List<ContributionBlock> in = blocks.inputs(fronts);
      SubtreeFactor factor = host.factor(new SubtreeProblem(analysis, fronts, these, in), options);
      blocks.verify(in);
      done.put(factor);
      flops += factor.summary().flopsDone();
    }
  }
}
