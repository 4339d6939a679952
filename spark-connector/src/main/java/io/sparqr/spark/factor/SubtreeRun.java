/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.configuration.Keys;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.ResidentFactors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.SubtreeSolution;
import io.sparqr.numeric.WorkListener;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.storage.LateRows;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.numeric.storage.RowStore;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceLease;
import io.sparqr.spark.engine.LocalFolder;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.metrics.TaskProfile;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveReport.FactorBytes;
import io.sparqr.spark.stored.FactorChunk;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.Reading;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ReflectorCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;

/** One subtree task on an executor: frames in, frames out. */
final class SubtreeRun {

  private final SolvePlan plan;
  private final SubtreeTask task;
  private final int threads;
  private final Keeping keeping;
  private final SubtreeMetrics metrics;
  private final Consumer<RuntimeException> lost;

  /** A run that kills a lost device's executor. */
  SubtreeRun(SolvePlan plan, int task, int threads, Keeping keeping, SubtreeMetrics metrics) {
    this(plan, task, threads, keeping, metrics, DyingExecutor::leave);
  }

  /** As above, with an action for the loss of a device. */
  SubtreeRun(
      SolvePlan plan,
      int task,
      int threads,
      Keeping keeping,
      SubtreeMetrics metrics,
      Consumer<RuntimeException> lost) {
    this.keeping = keeping;
    this.lost = lost;
    this.plan = plan;
    this.task = plan.partition().tasks().get(task);
    this.threads = threads;
    this.metrics = metrics;
  }

  /**
   * Factors the subtree.
   *
   * @param rows row batches in any order
   * @param blocks chunks of contribution blocks, and row batches that replace some blocks, in any
   *     order
   */
  TaskResult run(List<byte[]> rows, Iterator<byte[]> blocks) {
    TaskProfile.Watch watch = metrics.watch(task.id(), threads);
    var arriving = new Arriving(blocks, rows);
    List<ContributionBlock> inputs = BlockCodec.decode(arriving);
    addRidge(rows);
    long rowBytes = bytes(rows);
    long bytesIn = rowBytes + arriving.blockBytes;
    RowBlock block = RowBatchCodec.decode(rows, plan.numbers().rhsCount(), threads);
    metrics.arrived(block.rows() - arriving.reducedRows);
    // Rows encoded and decoded; blocks only decoded.
    long arrival = 2 * rowBytes + arriving.blockBytes;
    rows.clear();
    var problem = new SubtreeProblem(plan.analysis(), task.fronts(), block, inputs);
    Backends.Chosen backend =
        Backends.choose(
            plan.numbers().devices(),
            devices ->
                DeviceLease.devices(
                    TaskContext.get(), task.worker(), devices, plan.numbers().local(), alone()));
    var came = new Came(bytesIn, arrival - rowBytes, arrival);
    try (RowStore store = new RowStore(RowBudget.ofJvm(), LocalFolder.path())) {
      SubtreeFactor factor = factor(backend, problem, store, watch.heardBy(metrics.work()));
      keeping
          .resident()
          .ifPresent(name -> ResidentFactors.ofJvm().put(name, task.id(), factor.residence()));
      return result(factor, store, came, backend.reason(), watch);
    }
  }

  private static long bytes(List<byte[]> frames) {
    long bytes = 0;
    for (byte[] b : frames) {
      bytes += b.length;
    }
    return bytes;
  }

  /** The block frames among the arriving ones; rows that replace blocks are added to the rows. */
  private static final class Arriving implements Iterator<byte[]> {
    private final Iterator<byte[]> frames;
    private final List<byte[]> rows;
    private byte @Nullable [] next;
    long blockBytes;
    long reducedRows;

    Arriving(Iterator<byte[]> frames, List<byte[]> rows) {
      this.frames = frames;
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      while (next == null && frames.hasNext()) {
        byte[] frame = frames.next();
        if (Frame.kind(frame) == Frame.Kind.ROWS) {
          rows.add(frame);
          reducedRows += RowBatchCodec.rows(frame);
        } else {
          blockBytes += frame.length;
          next = frame;
        }
      }
      return next != null;
    }

    @Override
    public byte[] next() {
      byte[] frame = hasNext() ? next : null;
      if (frame == null) {
        throw new NoSuchElementException();
      }
      next = null;
      return frame;
    }
  }

  SubtreeFactor factor(
      Backends.Chosen backend, SubtreeProblem problem, RowMemory memory, WorkListener work) {
    var options =
        new FactorOptions(
                plan.numbers().tolerance(),
                threads,
                plan.numbers().deviceMemoryBytes(),
                plan.numbers().keepQ())
            .gram(plan.numbers().fronts().gram())
            .ofUnitColumns(plan.numbers().equilibrated())
            .forSolution(keeping.solution().isPresent() && !keeping.factor())
            .staying(keeping.resident().isPresent())
            .alone(!keeping.framed())
            .in(memory)
            .heardBy(work)
            .tunedBy(plan.numbers().fronts().tuned().tuning());
    if (!backend.onDevice()) {
      try (SubtreeFactorizer cpu = checked(backend.provider().create(0))) {
        return cpu.factor(problem, options);
      } catch (NumericalIntegrityException e) {
        throw e.ofTask(task.id());
      }
    }
    try (DeviceLease lease = DeviceLease.acquire(TaskContext.get(), backend.devices());
        SubtreeFactorizer device = checked(backend.provider().create(lease.devices()))) {
      metrics.waited(lease.waitedNanos());
      return device.factor(problem, options);
    } catch (NumericalIntegrityException e) {
      throw e.ofTask(task.id());
    } catch (FatalCudaException e) {
      lost.accept(e);
      throw e;
    }
  }

  /** Whether one worker has all of the plan's tasks. */
  private boolean alone() {
    return plan.partition().tasks().stream().allMatch(t -> t.worker() == task.worker());
  }

  private static SubtreeFactorizer checked(SubtreeFactorizer backend) {
    return new CheckedFactorizer(backend, Backends.host());
  }

  /** Adds the ridge rows for the task's pivots, which are created here rather than shuffled. */
  private void addRidge(List<byte[]> rows) {
    Ridge ridge = plan.numbers().ridge();
    if (!ridge.any()) {
      return;
    }
    SymbolicAnalysis a = plan.analysis();
    int rhsCount = plan.numbers().rhsCount();
    var batch = new RowBatchCodec.Builder(rhsCount);
    for (int f : task.fronts()) {
      for (int p = a.firstPivot(f); p < a.firstPivot(f + 1); p++) {
        int j = a.permutation().original(p);
        double v = plan.scaled(j, Math.sqrt(ridge.of(j)));
        batch.add(f, new int[] {p}, new double[] {v}, 0, 1, new double[rhsCount], 0);
      }
    }
    rows.add(batch.take(Integer.MAX_VALUE, 0));
  }

  /**
   * Bytes received.
   *
   * @param bytes by shuffle
   * @param kept held during the factorization
   * @param most peak on arrival
   */
  private record Came(long bytes, long kept, long most) {}

  private TaskResult result(
      SubtreeFactor factor, RowStore store, Came came, String reason, TaskProfile.Watch watch) {
    Passed passed = Passed.of(plan, task.id(), factor);
    long blockBytes = passed.bytes();
    double[] squares = factor.residualSquares().clone();
    for (int q = 0; q < squares.length; q++) {
      squares[q] += passed.residualSquares()[q];
    }
    boolean alone = factor.residence().alone();
    long entries =
        alone
            ? factor.residence().factor().orElseThrow().entries()
            : factor.solution().map(SubtreeSolution::entries).orElse(0L);
    long held = 0;
    for (FrontFactor f : factor.fronts()) {
      entries += f.length();
      held += f.heapBytes();
    }
    for (ContributionBlock b : factor.outputs()) {
      held += (long) Double.BYTES * b.values().length;
    }
    long after = came.kept + held;
    FactorSummary summary =
        factor.summary().withDeparture(passed.departure()).withHostPeak(Math.max(came.most, after));
    if (!passed.warnings().isEmpty()) {
      summary = summary.doneAgain(passed.warnings());
    }
    if (store.fileBytes() > 0 && keeping.factor()) {
      summary =
          summary.warning(
              "task %d: %,d bytes for R are in memory, %,d in a temporary file (%s)"
                  .formatted(
                      task.id(),
                      store.memoryBytes(),
                      store.fileBytes(),
                      Keys.FACTOR_MEMORY.name()));
    }
    metrics.factored(summary, Double.BYTES * entries, blockBytes);
    watch.done(summary);
    List<byte[]> reflectors = ReflectorCodec.encode(factor.reflectors());
    long reflectorBytes = 0;
    for (byte[] frame : reflectors) {
      reflectorBytes += frame.length;
    }
    var bytes =
        new TaskReport.Bytes(came.bytes, blockBytes, reflectorBytes, where(factor, store, entries));
    var report =
        new TaskReport(task.id(), summary, squares, entries, dead(factor.fronts()), bytes, reason);
    var kept = new ArrayList<TaskOutput>();
    byte[] encoded = report.encode();
    kept.add(new TaskOutput.Report(encoded));
    reflectors.forEach(frame -> kept.add(new TaskOutput.Reflectors(frame)));
    var told = new ArrayList<byte[]>(List.of(encoded));
    keeping.solution().ifPresent(how -> told.add(solved(how, factor, kept.get(0))));
    if (keeping.factor()) {
      Stream<TaskOutput> all = Stream.concat(kept.stream(), rows(factor, store));
      return new TaskResult(passed.frames(), all.iterator(), told);
    }
    told.stream().skip(1).forEach(x -> kept.add(new TaskOutput.Solution(x)));
    return new TaskResult(passed.frames(), kept.iterator(), told);
  }

  /** The rows of R as they are kept; held, or encoded on demand. */
  private Stream<? extends TaskOutput> rows(SubtreeFactor factor, RowStore store) {
    int rhs = plan.numbers().rhsCount();
    if (factor.residence().alone()) {
      var late = new LateRows(factor.residence().factor().orElseThrow(), store, threads);
      return Stream.of(KeptFronts.of(late, task.fronts().length, pivots(), rhs, store));
    }
    if (!keeping.framed()) {
      return KeptFronts.of(factor.fronts(), rhs, threads, store).stream();
    }
    new Reading().add(store);
    Iterator<byte[]> chunks = FactorChunk.encode(new ArrayDeque<>(factor.fronts()), rhs, threads);
    var lazily = Spliterators.spliteratorUnknownSize(chunks, Spliterator.ORDERED);
    return StreamSupport.stream(lazily, false).map(TaskOutput.FactorFrame::new);
  }

  private long pivots() {
    long pivots = 0;
    for (int f : task.fronts()) {
      pivots += plan.analysis().fp(f);
    }
    return pivots;
  }

  /** The bytes of R by the place where they are from now on. */
  private FactorBytes where(SubtreeFactor factor, RowStore store, long entries) {
    if (!keeping.factor()) {
      return FactorBytes.NONE;
    }
    long device = factor.residence().factor().map(ResidentFactor::bytes).orElse(0L);
    return keeping.framed()
        ? new FactorBytes(device, 0, 0, Double.BYTES * entries)
        : new FactorBytes(device, store.memoryBytes(), store.fileBytes(), 0);
  }

  /** x at the task's pivots: the backend's, or by back substitution here. */
  private byte[] solved(TaskSolution how, SubtreeFactor factor, TaskOutput report) {
    if (factor.solution().isPresent()) {
      return how.of(plan, task, factor.solution().get().x());
    }
    var content = new ArrayList<TaskOutput>(List.of(report));
    content.addAll(KeptFronts.forUse(factor.fronts(), plan.numbers().rhsCount()));
    int[] all = new int[task.id() + 1];
    all[task.id()] = threads;
    return how.of(plan, content.iterator(), all);
  }

  private int[] dead(List<FrontFactor> fronts) {
    SymbolicAnalysis a = plan.analysis();
    int[] dead = new int[16];
    int count = 0;
    for (FrontFactor f : fronts) {
      int next = 0;
      for (int k = 0; k < a.fp(f.front()); k++) {
        if (next < f.rank() && f.livePivot()[next] == k) {
          next++;
          continue;
        }
        if (count == dead.length) {
          dead = Arrays.copyOf(dead, 2 * count);
        }
        dead[count++] = a.firstPivot(f.front()) + k;
      }
    }
    return Arrays.copyOf(dead, count);
  }
}
