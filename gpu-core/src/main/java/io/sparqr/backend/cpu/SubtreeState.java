/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.CompensatedSums;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.WorkListener;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.symbolic.GramWork;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The state shared by the threads of one subtree task: input by front, blocks between fronts,
 * results by front. Each slot is written by one thread and read by another only after the scheduler
 * has passed the front on, so slots need no synchronization.
 */
final class SubtreeState {

  private final SubtreeProblem problem;
  private final SymbolicAnalysis analysis;
  private final double tolerance;
  private final WorkListener work;
  private final RowMemory memory;
  private final int[] fronts;
  private final RowsByFront rows;
  private final Map<Integer, ContributionBlock> inputs = new HashMap<>();
  private final ContributionBlock[] blocks;
  private final FrontFactor[] factors;
  private final FrontReflectors @Nullable [] reflectors;
  private final double[] squares;
  private final double[] dropped;
  private final double[] flops;
  private final GramGroups groups;
  private final AtomicReference<FactorSummary.Gram> gram =
      new AtomicReference<>(FactorSummary.Gram.NONE);

  private final AtomicLong held = new AtomicLong();
  private final AtomicLong peak = new AtomicLong();

  SubtreeState(SubtreeProblem problem, FactorOptions options, GramRule rule) {
    this.problem = problem;
    this.analysis = problem.analysis();
    this.tolerance = options.rankTolerance();
    this.work = options.work();
    this.memory = options.memory();
    this.fronts = problem.fronts();
    int count = fronts.length;
    this.blocks = new ContributionBlock[count];
    this.factors = new FrontFactor[count];
    this.reflectors = options.keepQ() ? new FrontReflectors[count] : null;
    this.squares = new double[Math.multiplyExact(count, rhsCount())];
    this.dropped = new double[count];
    this.flops = new double[count];
    this.rows = new RowsByFront(problem);
    hold(bytes(problem.rows()));
    for (ContributionBlock b : problem.inputs()) {
      checkInput(b);
      inputs.put(b.front(), b);
      hold(8L * (b.values().length + b.rhs().length));
    }
    groups = options.gram() ? groups(rule) : new GramGroups(analysis, fronts);
  }

  private GramGroups groups(GramRule rule) {
    int[] parent = new int[fronts.length];
    Arrays.setAll(parent, this::parentIndex);
    double[] inputCost = new double[fronts.length];
    for (ContributionBlock b : inputs.values()) {
      inputCost[index(analysis.parent(b.front()))] += GramWork.piece(b.cm(), b.cn(), rhsCount());
    }
    return new GramGroups(analysis, fronts, parent, rows, inputCost, rhsCount(), rule);
  }

  private void checkInput(ContributionBlock b) {
    int parent = analysis.parent(b.front());
    if (parent < 0 || index(parent) < 0 || index(b.front()) >= 0) {
      throw new IllegalArgumentException(
          "contribution block of front " + b.front() + " does not come into this task");
    }
    if (b.cn() != analysis.cn(b.front()) || b.rhsCount() != rhsCount()) {
      throw new IllegalArgumentException(
          "contribution block of front " + b.front() + " does not fit the analysis");
    }
    if (inputs.containsKey(b.front())) {
      throw new IllegalArgumentException("two contribution blocks of front " + b.front());
    }
  }

  /** Extra bytes of the rows while they are decoded and exist twice. */
  long arrivalBytes() {
    return bytes(problem.rows());
  }

  /** Bytes of rows with their grouping by front. */
  private static long bytes(RowBlock r) {
    return 12L * r.rowStart()[r.rows()] + r.rows() * (16L + 8 * r.rhsCount());
  }

  /** Whether a front belongs to the task. */
  boolean isOfTask(int front) {
    return index(front) >= 0;
  }

  /** Place of a front in the task's list, or -1. */
  private int index(int front) {
    return rows.place(front);
  }

  /** Index of the parent of the front at this index, negative if it is outside the task. */
  int parentIndex(int index) {
    int parent = analysis.parent(fronts[index]);
    return parent < 0 ? -1 : index(parent);
  }

  /** Creates a thread's assembly of the task's fronts. */
  FrontAssembly newAssembly() {
    return new FrontAssembly(analysis, rows);
  }

  SymbolicAnalysis analysis() {
    return analysis;
  }

  /** Listener to the task's progress. */
  WorkListener work() {
    return work;
  }

  /** Where rows of R are put. */
  RowMemory memory() {
    return memory;
  }

  double tolerance() {
    return tolerance;
  }

  int rhsCount() {
    return problem.rows().rhsCount();
  }

  int frontCount() {
    return fronts.length;
  }

  int front(int index) {
    return fronts[index];
  }

  /** Removes and returns the block of a front, in the task or from outside; null if it has none. */
  @Nullable ContributionBlock takeBlock(int front) {
    int i = index(front);
    if (i < 0) {
      return inputs.get(front);
    }
    ContributionBlock block = blocks[i];
    blocks[i] = null;
    return block;
  }

  void done(
      int index,
      FrontFactor factor,
      @Nullable ContributionBlock block,
      double[] residual,
      double droppedNorm,
      double flopsDone) {
    factors[index] = factor;
    hold(factor.heapBytes());
    blocks[index] = block;
    System.arraycopy(residual, 0, squares, index * residual.length, residual.length);
    dropped[index] = droppedNorm;
    flops[index] = flopsDone;
  }

  /** The fronts that are tried by their Gram matrix. */
  GramGroups groups() {
    return groups;
  }

  /**
   * Ends a job that is cancelled before the next front.
   *
   * @throws CancellationException if the thread is interrupted
   */
  void requireGoingOn(int index) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("interrupted at front " + front(index));
    }
  }

  /** The rows of a group of fronts, by index, and the blocks that come into it, which are taken. */
  GroupRows groupRows(int[] members) {
    int[] of = Arrays.stream(members).map(i -> fronts[i]).toArray();
    List<List<ContributionBlock>> in = new ArrayList<>();
    for (int f : of) {
      List<ContributionBlock> blocksOfFront = new ArrayList<>();
      for (int c = 0; c < analysis.childCount(f); c++) {
        int child = analysis.child(f, c);
        ContributionBlock block = blockOf(child);
        if (block != null) {
          blocksOfFront.add(block);
        }
      }
      in.add(blocksOfFront);
    }
    return new GroupRows(analysis, of, rows, in);
  }

  /** The block of a front, in the task or from outside, left where it is. */
  private @Nullable ContributionBlock blockOf(int front) {
    int i = index(front);
    return i < 0 ? inputs.get(front) : blocks[i];
  }

  /** Counts a front tried by its Gram matrix. */
  void gram(FactorSummary.Gram front) {
    gram.accumulateAndGet(front, FactorSummary.Gram::plus);
  }

  boolean keepsQ() {
    return reflectors != null;
  }

  /** Stores Q of the front at this index. */
  void keep(int index, FrontReflectors q) {
    Objects.requireNonNull(reflectors)[index] = q;
    hold(8 * q.values());
  }

  void hold(long bytes) {
    long now = held.addAndGet(bytes);
    if (now > peak.get()) {
      peak.accumulateAndGet(now, Math::max);
    }
  }

  void release(long bytes) {
    held.addAndGet(-bytes);
  }

  /** The result, summed in the order of the fronts, so that it does not depend on the schedule. */
  SubtreeFactor result(String backend, double seconds) {
    int nrhs = rhsCount();
    var residual = new CompensatedSums(nrhs);
    double droppedNorm = 0;
    double done = 0;
    long rank = 0;
    List<ContributionBlock> outputs = new ArrayList<>();
    for (int i = 0; i < fronts.length; i++) {
      residual.add(squares, i * nrhs);
      droppedNorm = Math.hypot(droppedNorm, dropped[i]);
      done += flops[i];
      rank += factors[i].rank();
      if (blocks[i] != null) {
        outputs.add(blocks[i]);
      }
    }
    var summary =
        FactorSummary.cpu(
                backend,
                new FactorSummary.Work(fronts.length, rank, done, seconds, droppedNorm),
                peak.get())
            .withGram(Objects.requireNonNull(gram.get()));
    List<FrontReflectors> q = reflectors == null ? List.of() : Arrays.asList(reflectors);
    return new SubtreeFactor(Arrays.asList(factors), outputs, residual.values(), summary, q);
  }
}
