/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Factors a subtree task on a {@link RoundExecutor}: memory stages, rounds, rows of R out,
 * contribution blocks between stages through host memory, and the mending of fronts with dead
 * columns. The same for every executor.
 *
 * <p>Stages (SQR section 3.4): a prefix of what is left of the postorder, as long as its fronts,
 * entries, output and the blocks that come in fit the memory ({@link StageEstimate}); blocks of
 * fronts whose parent is in a later stage go to the host and back.
 *
 * <p>Dead columns. A static schedule cannot shift rows, so it only detects: a pivot with |R_kk| at
 * most the tolerance marks its front unsound. The front is finished all the same, for A_f = QR
 * holds whatever the pivots; but instead of its block its parent gets the mark, and every front
 * above it in the stage, whose tasks do nothing then. When the stage is done, the R of the lowest
 * unsound fronts comes down and is triangularised again without the dead columns ({@link
 * Retriangularization}, Heath's method); the fronts above them go through the executor again, as
 * part of the next stage, with the number of rows that they really get (more than at full rank, at
 * most min(fm, cn)). So no front is computed twice, and the tree stays on the device. An executor
 * that does not finish dead fronts has them factored from their rows by the mender instead.
 *
 * <p>Bits depend on the problem, the executor and its {@link SchedulerOptions}, not on the memory
 * budget and not on the number of threads. Not thread-safe.
 */
public final class StagedFactorization {

  /** Doubles from which on an array is worth several threads. */
  private static final int LARGE = 1 << 20;

  private final RoundExecutor executor;
  private final SubtreeFactorizer mender;
  private final String backend;

  /** The last task's structure and its stages, for the next one of the same structure. */
  private PreparedTask prepared;

  /**
   * A driver for an executor.
   *
   * @param backend name for the report
   * @param executor runs the rounds; not closed here
   * @param mender factors fronts with dead columns on the host; not closed here
   */
  public StagedFactorization(String backend, RoundExecutor executor, SubtreeFactorizer mender) {
    this.backend = backend;
    this.executor = executor;
    this.mender = mender;
  }

  /**
   * Factors a task.
   *
   * @throws InsufficientMemoryException if one front and what goes into it do not fit
   */
  public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
    return new Run(problem, options).run();
  }

  /** One factorization. */
  private final class Run {

    private final SubtreeProblem problem;
    private final SymbolicAnalysis analysis;
    private final FactorOptions options;
    private final FrontRows rows;
    private final int rhs;

    /** By place in the task's list. */
    private final FrontFactor[] factor;

    private final HeldBlocks blocks;
    private final StageEstimate estimate;

    /** By place; none unless Q is kept. */
    private final FrontReflectors[] reflectors;

    private final double[] residual;

    /** By place: fronts mended from their R, whose residual and dropped norms are summed last. */
    private final Retriangularization[] mended;

    private int[] pending;
    private long budget;
    private long rank;
    private double flops;
    private long stages;
    private long rounds;
    private long tasks;
    private long h2d;
    private long d2h;
    private long peak;
    private double dropped;

    Run(SubtreeProblem problem, FactorOptions options) {
      this.problem = problem;
      this.options = options;
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
      reflectors = new FrontReflectors[options.keepQ() ? problem.fronts().length : 0];
      // What is free changes a little from call to call; a plan for a little less will do.
      long planBudget = options.deviceMemoryBytes() > 0 ? budget : 0;
      if (prepared == null || !prepared.serves(problem, options, planBudget)) {
        prepared = new PreparedTask(problem, options, cut, planBudget);
      }
      rows = prepared.rows.withValues(problem.rows());
      rhs = problem.rows().rhsCount();
      factor = new FrontFactor[problem.fronts().length];
      mended = new Retriangularization[factor.length];
      blocks = new HeldBlocks(analysis, problem.inputs());
      estimate = new StageEstimate(analysis, rows, blocks, cut, options.keepQ());
      residual = new double[rhs];
      pending = problem.fronts().clone();
    }

    SubtreeFactor run() {
      long began = System.nanoTime();
      while (pending.length > 0) {
        stage();
      }
      var outputs = new ArrayList<ContributionBlock>();
      for (int f : problem.fronts()) {
        int p = analysis.parent(f);
        ContributionBlock b = blocks.get(f);
        if (b != null && b.cm() > 0 && (p < 0 || !rows.has(p))) {
          outputs.add(b);
        }
      }
      for (Retriangularization r : mended) {
        for (int j = 0; r != null && j < rhs; j++) {
          residual[j] += r.residual()[j];
        }
        dropped = r == null ? dropped : Math.hypot(dropped, Math.sqrt(r.droppedSquares()));
      }
      double seconds = (System.nanoTime() - began) * 1e-9;
      for (FrontFactor f : factor) {
        rank += f.rank();
      }
      var summary =
          new FactorSummary(
              backend,
              executor.device(),
              factor.length,
              rank,
              flops,
              stages,
              rounds,
              tasks,
              h2d,
              d2h,
              peak,
              0,
              0,
              seconds,
              dropped,
              List.of());
      return new SubtreeFactor(
          Arrays.asList(factor), outputs, residual, summary, Arrays.asList(reflectors));
    }

    /** Builds (or takes) and runs one stage; what is left of it stays pending. */
    private void stage() {
      PreparedTask.Stage stage = preparedStage();
      int count = stage == null ? estimate.prefix(pending, budget) : stage.fronts().length;
      while (true) {
        int[] fronts = Arrays.copyOf(pending, count);
        List<ContributionBlock> in = blocks.inputs(fronts);
        if (stage == null) {
          StageProgram built = prepared.builder.build(fronts, in);
          if (built.deviceBytes() > budget) {
            count = shrink(count, built.deviceBytes());
            continue;
          }
          stage = new PreparedTask.Stage(fronts, PreparedTask.Stage.shape(in), built);
        }
        StageProgram program = stage.program();
        RoundExecutor.Result result;
        try {
          result =
              executor.execute(
                  program,
                  new StageValues(rows, fronts, in),
                  options.rankTolerance(),
                  new Rows(program, fronts));
        } catch (InsufficientMemoryException e) {
          budget = Math.min(budget, program.deviceBytes() - 1);
          count = shrink(count, program.deviceBytes());
          stage = null;
          continue;
        }
        remember(stage);
        account(program, result);
        complete(program, fronts, result.state());
        return;
      }
    }

    /** The stage that was built at this point for the last task, if it is the one to build. */
    private PreparedTask.Stage preparedStage() {
      if (prepared.stages.size() <= stages) {
        return null;
      }
      PreparedTask.Stage s = prepared.stages.get((int) stages);
      int n = s.fronts().length;
      boolean same =
          n <= pending.length
              && Arrays.equals(s.fronts(), 0, n, pending, 0, n)
              && s.program().deviceBytes() <= budget
              && Arrays.equals(s.blockShape(), PreparedTask.Stage.shape(blocks.inputs(s.fronts())));
      return same ? s : null;
    }

    private void remember(PreparedTask.Stage stage) {
      int at = (int) stages;
      if (at < prepared.stages.size() && prepared.stages.get(at) == stage) {
        return;
      }
      prepared.stages.subList(Math.min(at, prepared.stages.size()), prepared.stages.size()).clear();
      prepared.stages.add(stage);
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
      return Math.max(1, (int) Math.min(count - 1, count * 0.9 * budget / required));
    }

    /** Values of the pivot rows of a front of full rank. */
    private static int rowValues(FrontDescriptor d) {
      long r = Math.min(d.fm(), d.fp());
      return (int) (r * d.fn() - r * (r - 1) / 2);
    }

    /** Relative get of a whole array, a large one by several threads. */
    private void copy(DoubleBuffer from, double[] to) {
      if (to.length < LARGE) {
        from.get(to);
        return;
      }
      int start = from.position();
      Parallel.loop(
          to.length,
          LARGE / 4,
          Math.min(4, options.threads()),
          (lo, hi, t) -> from.get(start + lo, to, lo, hi - lo));
      from.position(start + to.length);
    }

    /** Takes the rows of a stage's fronts; the arrays of large ones are made ahead. */
    private final class Rows implements RoundExecutor.RowSink {

      private final StageProgram program;
      private final int[] fronts;
      private final double[][] target;

      Rows(StageProgram program, int[] fronts) {
        this.program = program;
        this.fronts = fronts;
        target = new double[fronts.length][];
      }

      @Override
      public void expect(int f) {
        if (program.outLength(f) >= LARGE) {
          target[f] = new double[rowValues(program.descriptor(f))];
        }
      }

      @Override
      public void accept(int f, DoubleBuffer rows) {
        take(program, fronts[f], f, rows, target);
        target[f] = null;
      }
    }

    /** Rows of a sound front from the output buffer: R, and the block if it leaves the stage. */
    private void take(StageProgram program, int front, int f, DoubleBuffer out, double[][] target) {
      FrontDescriptor d = program.descriptor(f);
      int r = Math.min(d.fm(), d.fp());
      int[] live = new int[r];
      for (int k = 0; k < r; k++) {
        live[k] = k;
      }
      double[] values = target[f] == null ? new double[rowValues(d)] : target[f];
      double[] right = new double[r * rhs];
      copy(out, values);
      if (d.parent() < 0) {
        double[] cValues = new double[(int) ContributionBlock.packedLength(d.cm(), d.cn())];
        double[] cRight = new double[d.cm() * rhs];
        copy(out, cValues);
        out.get(right);
        out.get(cRight);
        blocks.put(new ContributionBlock(front, d.cm(), d.cn(), cValues, cRight, rhs));
      } else {
        out.get(right);
        blocks.remove(front);
      }
      factor[rows.place(front)] = new FrontFactor(front, d.fn(), live, values, right, rhs);
    }

    private void account(StageProgram program, RoundExecutor.Result result) {
      stages++;
      rounds += program.schedule().rounds();
      tasks += program.schedule().tasks();
      flops += program.schedule().flops();
      h2d += result.h2dBytes();
      d2h += result.d2hBytes();
      peak = Math.max(peak, program.deviceBytes());
      StageSchedule s = program.schedule();
      for (int f = 0; f < program.fronts(); f++) {
        // A front that is factored again from its rows brings its residual then.
        boolean counts = executor.finishesDeadFronts() || result.state()[f] == 0;
        for (int slot = s.residualStart(f); counts && slot < s.residualStart(f + 1); slot++) {
          for (int j = 0; j < rhs; j++) {
            residual[j] += result.residual()[slot * rhs + j];
          }
        }
      }
    }

    /** Sound fronts are done; of the others the lowest are mended and the rest stay pending. */
    private void complete(StageProgram program, int[] fronts, int[] state) {
      int n = fronts.length;
      boolean finished = executor.finishesDeadFronts();
      boolean[] unsound = new boolean[n];
      boolean[] redo = new boolean[n];
      for (int f = 0; f < n; f++) {
        unsound[f] = redo[f] || state[f] != 0;
        int p = program.descriptor(f).parent();
        if (unsound[f] && p >= 0) {
          redo[p] = true;
        }
      }
      var mend = new ArrayList<Integer>();
      var passOn = new ArrayList<Integer>();
      int[] left = new int[n];
      int leftCount = 0;
      for (int f = 0; f < n; f++) {
        FrontDescriptor d = program.descriptor(f);
        if (redo[f]) {
          left[leftCount++] = fronts[f];
        } else if (unsound[f]) {
          mend.add(f);
        } else {
          if (factor[rows.place(fronts[f])] == null) {
            factor[rows.place(fronts[f])] = emptyFactor(fronts[f]);
          }
          boolean needed = d.parent() >= 0 && (finished ? redo : unsound)[d.parent()];
          if (d.cm() > 0 && needed) {
            passOn.add(f);
          }
        }
      }
      if (options.keepQ()) {
        fetchReflectors(program, fronts, finished, unsound, redo);
      }
      var fetch = new RowFetch(executor, program, options.threads());
      fetch.run(
          passOn,
          f -> program.descriptor(f).fp(),
          f -> program.descriptor(f).fp() + program.descriptor(f).cm(),
          (f, rows) -> blocks.put(contribution(program.descriptor(f), fronts[f], rows)));
      if (finished) {
        fetch.run(
            mend,
            f -> 0,
            f -> Math.min(program.descriptor(f).fm(), program.descriptor(f).fn()),
            (f, rows) -> retriangularize(program.descriptor(f), fronts[f], rows));
      } else {
        factorOnHost(mend.stream().mapToInt(f -> fronts[f]).toArray());
      }
      d2h += 8 * fetch.doubles();
      for (int f = 0; f < n; f++) {
        if (!redo[f]) {
          blocks.dropChildren(fronts[f]);
        }
      }
      int rest = pending.length - n;
      int[] next = Arrays.copyOf(left, leftCount + rest);
      System.arraycopy(pending, n, next, leftCount, rest);
      pending = next;
    }

    /** Q of the fronts that are done, and of those that are mended from their R. */
    private void fetchReflectors(
        StageProgram program, int[] fronts, boolean finished, boolean[] unsound, boolean[] redo) {
      var wanted = new BitSet();
      for (int f = 0; f < fronts.length; f++) {
        wanted.set(f, !unsound[f] || finished && !redo[f]);
      }
      var fetch = new ReflectorFetch(executor, program, options.threads());
      FrontReflectors[] q = fetch.run(wanted);
      for (int f = 0; f < fronts.length; f++) {
        if (q[f] != null) {
          reflectors[rows.place(fronts[f])] = q[f];
        }
      }
      d2h += 8 * fetch.doubles();
    }

    private FrontFactor emptyFactor(int front) {
      int[] none = new int[0];
      return new FrontFactor(front, analysis.fn(front), none, new double[0], new double[0], rhs);
    }

    private ContributionBlock contribution(FrontDescriptor d, int front, DoubleBuffer rows) {
      double[] values = new double[(int) ContributionBlock.packedLength(d.cm(), d.cn())];
      double[] right = new double[d.cm() * rhs];
      rows.get(values);
      rows.get(right);
      return new ContributionBlock(front, d.cm(), d.cn(), values, right, rhs);
    }

    /** Mends a front from the R that the executor finished. */
    private void retriangularize(FrontDescriptor d, int front, DoubleBuffer rowsOfR) {
      var r = new Retriangularization(front, d, options.rankTolerance(), rowsOfR, options.keepQ());
      r.run();
      if (options.keepQ()) {
        int at = rows.place(front);
        reflectors[at] = r.reflectors(reflectors[at]);
      }
      factor[rows.place(front)] = r.factor();
      ContributionBlock b = r.block();
      if (b == null) {
        blocks.remove(front);
      } else {
        blocks.put(b);
      }
      mended[rows.place(front)] = r;
    }

    /** Factors fronts of which none is above another, on the host. */
    private void factorOnHost(int[] fronts) {
      if (fronts.length == 0) {
        return;
      }
      SubtreeFactor mended =
          mender.factor(
              new SubtreeProblem(analysis, fronts, rows.only(fronts), blocks.inputs(fronts)),
              options);
      for (FrontFactor f : mended.fronts()) {
        factor[rows.place(f.front())] = f;
        blocks.remove(f.front());
      }
      for (FrontReflectors q : mended.reflectors()) {
        reflectors[rows.place(q.front())] = q;
      }
      for (ContributionBlock b : mended.outputs()) {
        blocks.put(b);
      }
      for (int j = 0; j < rhs; j++) {
        residual[j] += mended.residualSquares()[j];
      }
      flops += mended.summary().flopsDone();
      dropped = Math.hypot(dropped, mended.summary().droppedNorm());
    }
  }
}
