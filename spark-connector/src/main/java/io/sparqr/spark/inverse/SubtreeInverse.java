/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.StaircaseQr;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.FrontColumns;
import io.sparqr.spark.solve.TaskColumns;
import io.sparqr.spark.solve.TaskFactor;
import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.InverseCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Crew;
import io.sparqr.threads.TreeUnits;
import io.sparqr.threads.UnitOrder;
import io.sparqr.threads.UnitThreads;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Norms of R^-1's rows at one task's pivots, fronts from the top down: each front passes the
 * inverse's factor on their tails to its children. Factors for children in other tasks are sent as
 * packed trapezoids. Each front also answers queries, sqrt(u'Z u) for u within that front, and
 * computes leverages of rows. Several threads descend the tree in parallel and share the work of
 * large fronts; the result does not depend on them.
 */
final class SubtreeInverse implements UnitThreads.Units<StaircaseQr>, AutoCloseable {

  /** Overhead of a front, in flops. */
  private static final double FRONT_OVERHEAD = 1e4;

  /** Children with longer tails are processed one after the other, each by all threads. */
  private static final int LONG_TAIL = 256;

  /** Children with longer tails are so processed even where each of them is quickly done. */
  private static final int LONGEST_TAIL = 1024;

  /** Number of other children that a thread processes at a time. */
  private static final int CHILDREN = 32;

  private final SymbolicAnalysis analysis;
  private final TaskFactor r;
  private final int[] fronts;
  private final RowBlock questions;

  /** By front of the task: start of its norms. */
  private final int[] at;

  /** By front of the task; set by its parent and released when it is done. */
  private final InverseFactor[] tails;

  /**
   * By front of the task: whether it has no pivots, so that its children's tails are columns of the
   * front above it. Such fronts bring the rows of a tall front together; a factor on their own
   * tail, nearly as long as that front, would be made for nothing. Rows, queries and what is kept
   * belong to fronts with pivots.
   */
  private final boolean[] without;

  /** By front of the task: factors for its children in other tasks. */
  private final List<List<byte[]>> sent;

  private final RowLeverages leverages;
  private final @Nullable KeptFront kept;

  /** Of the front that is kept. */
  private final List<byte[]> strips = new ArrayList<>();

  private final int[] position;
  private final double[] norm;
  private final TreeUnits units;
  private final UnitOrder order;

  private SubtreeInverse(
      SolvePlan plan,
      Iterator<TaskOutput> kept,
      byte[] asked,
      Iterator<byte[]> given,
      @Nullable KeptFront front,
      int[] threads) {
    this.analysis = plan.analysis();
    this.kept = front;
    this.r = new TaskFactor(plan, kept, threads);
    this.fronts = r.task().fronts();
    this.tails = new InverseFactor[fronts.length];
    this.sent = new ArrayList<>(Collections.nCopies(fronts.length, List.of()));
    var blocks = new ArrayList<byte[]>();
    var rows = new ArrayList<byte[]>();
    given.forEachRemaining(g -> (Frame.kind(g) == Frame.Kind.BLOCK ? blocks : rows).add(g));
    for (ContributionBlock b : BlockCodec.decode(blocks.iterator())) {
      tails[r.index(b.front())] = InverseFactor.unpack(b);
    }
    ChangeCodec.refuse(rows);
    this.leverages = new RowLeverages(analysis, rows);
    this.questions = RowBatchCodec.decode(List.of(asked), 1);
    int[] pivots = TaskColumns.pivots(analysis, r.task());
    this.position = Arrays.copyOf(pivots, pivots.length + questions.rows());
    this.norm = new double[position.length];
    this.at = new int[fronts.length];
    for (int i = 1; i < fronts.length; i++) {
      at[i] = at[i - 1] + analysis.fp(fronts[i - 1]);
    }
    this.without = new boolean[fronts.length];
    for (int i = 0; i < fronts.length; i++) {
      without[i] = analysis.fp(fronts[i]) == 0 && r.above(i) >= 0;
    }
    this.units = r.cut(work());
    this.order = UnitOrder.down(units);
  }

  /**
   * Runs the task.
   *
   * @param kept the task's stored content, from {@code SubtreeRun}
   * @param asked rows u, ascending by front, with their numbers as right-hand sides
   * @param given the inverse's factors on the tails of the task's outputs, and the rows for
   *     leverages, as sent by {@link io.sparqr.spark.rows.LeverageRouter}
   * @param front of which (R'R)^-1 is wanted, if it is one of the task's
   * @param threads threads for each task
   * @return one frame with the norms at the task's pivots and the answer to query k at position n +
   *     k; then factors for children in other tasks; then the leverages; then (R'R)^-1
   * @throws io.sparqr.error.InputChangedException if the rows differ from the factorized ones
   */
  static List<byte[]> run(
      SolvePlan plan,
      Iterator<TaskOutput> kept,
      byte[] asked,
      Iterator<byte[]> given,
      @Nullable KeptFront front,
      int[] threads) {
    try (var run = new SubtreeInverse(plan, kept, asked, given, front, threads)) {
      UnitThreads.run(run, run.r.threads(), "sparqr-inverse");
      var out = new ArrayList<byte[]>();
      out.add(VectorCodec.encodeSparse(new Sparse(run.position, run.norm, 1)));
      run.sent.forEach(out::addAll);
      out.addAll(run.leverages.frames());
      out.addAll(run.strips);
      return out;
    }
  }

  @Override
  public void close() {
    r.close();
  }

  private double[] work() {
    double[] work = new double[fronts.length];
    for (int i = 0; i < fronts.length; i++) {
      double fp = analysis.fp(fronts[i]);
      double cn = analysis.cn(fronts[i]);
      work[i] += FRONT_OVERHEAD;
      if (without[i]) {
        continue;
      }
      work[i] += fp * cn * (fp + 2 * cn) + fp * fp * fp;
      int above = r.above(i);
      while (above >= 0 && without[above]) {
        above = r.above(above);
      }
      if (above >= 0) {
        work[above] += 2 * cn * cn * Math.max(0, analysis.fn(fronts[above]) - cn);
      }
    }
    return work;
  }

  @Override
  public boolean isDone() {
    return order.isDone();
  }

  @Override
  public int next() {
    return order.next();
  }

  @Override
  public StaircaseQr workspace() {
    return new StaircaseQr(BlasLoader.kernels());
  }

  @Override
  public void run(int unit, StaircaseQr qr, Crew crew) {
    for (int i = units.start(unit + 1) - 1; i >= units.start(unit); i--) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("interrupted at front " + fronts[i]);
      }
      process(i, qr, crew);
    }
  }

  @Override
  public boolean finished(int unit) {
    return order.finished(unit);
  }

  private void process(int i, StaircaseQr qr, Crew crew) {
    int f = fronts[i];
    if (without[i]) {
      return;
    }
    FrontInverse z = front(i, crew);
    for (int k = 0; k < analysis.fp(f); k++) {
      norm[at[i] + k] = z.norm(k);
    }
    for (int q = firstQuestion(f); q < questions.rows() && questions.front()[q] == f; q++) {
      answer(q, f, z);
    }
    leverages.front(f, z);
    toChildren(i, z, qr, crew);
    if (kept != null && kept.front() == f) {
      keep(z, local(f, kept.columns()), kept.strip(), crew);
    }
  }

  /** Z of the front that is kept. */
  private void keep(FrontInverse z, int[] local, int strip, Crew crew) {
    z.square(crew);
    var frames = new byte[(local.length + strip - 1) / strip][];
    crew.run(
        frames.length,
        p -> {
          int from = p * strip;
          int to = Math.min(local.length, from + strip);
          frames[p] = InverseCodec.encode(from, to, local.length, z.block(local, from, to));
        });
    strips.addAll(Arrays.asList(frames));
  }

  private FrontInverse front(int i, Crew crew) {
    int f = fronts[i];
    List<FactorSegment> parts = r.rows(i);
    int rank = parts.stream().mapToInt(FactorSegment::rows).sum();
    int[] live = new int[rank];
    double[][] rows = new double[rank][];
    int n = 0;
    for (FactorSegment s : parts) {
      for (int k = 0; k < s.rows(); k++) {
        live[n] = s.livePivot(k);
        rows[n] = new double[s.fn()];
        s.row(k, rows[n++]);
      }
    }
    InverseFactor tail = tails[i];
    tails[i] = null;
    if (tail == null) {
      tail = InverseFactor.zero(analysis.cn(f));
    }
    return new FrontInverse(analysis.fp(f), live, rows, tail, crew);
  }

  private int firstQuestion(int f) {
    int low = 0;
    int high = questions.rows();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (questions.front()[middle] < f) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void answer(int question, int f, FrontInverse z) {
    int from = questions.rowStart()[question];
    int to = questions.rowStart()[question + 1];
    int[] local = local(f, Arrays.copyOfRange(questions.position(), from, to));
    int place = position.length - questions.rows() + question;
    position[place] = analysis.columns() + (int) questions.rhs()[question];
    norm[place] = z.norm(local, questions.value(), from, to - from);
  }

  /**
   * Processes long tails one by one where all threads can help with each; others in parallel, each
   * by one thread.
   */
  private void toChildren(int i, FrontInverse z, StaircaseQr qr, Crew crew) {
    int f = fronts[i];
    int[] below = below(f);
    int[] child = new int[below.length];
    InverseFactor[] tail = new InverseFactor[child.length];
    int few = 0;
    double squares = 0;
    for (int k : below) {
      double cn = analysis.cn(k);
      squares += cn * cn;
    }
    int longest = z.expect(squares, crew) ? LONGEST_TAIL : LONG_TAIL;
    int ownPieces = 0;
    for (int k : below) {
      if (analysis.cn(k) > longest) {
        hand(i, k, z.restrict(tailOf(k, f), qr, crew));
      } else if (analysis.cn(k) > 0) {
        child[few] = k;
        // the long ones to the front: each is a piece of its own
        if (analysis.cn(k) > LONG_TAIL) {
          child[few] = child[ownPieces];
          child[ownPieces++] = k;
        }
        few++;
      }
    }
    int count = few;
    int own = ownPieces;
    int pieces = own + (count - own + CHILDREN - 1) / CHILDREN;
    if (pieces <= 1) {
      restrict(child, 0, count, f, z, qr, tail);
    } else {
      crew.run(
          pieces,
          p -> {
            int from = p < own ? p : own + (p - own) * CHILDREN;
            int to = p < own ? p + 1 : Math.min(from + CHILDREN, count);
            restrict(child, from, to, f, z, workspace(), tail);
          });
    }
    for (int c = 0; c < count; c++) {
      hand(i, child[c], tail[c]);
    }
  }

  /** The children of a front, and in place of those without pivots theirs. */
  private int[] below(int f) {
    IntStream.Builder below = IntStream.builder();
    var open = new ArrayDeque<Integer>();
    open.push(f);
    while (!open.isEmpty()) {
      int above = open.pop();
      for (int c = 0; c < analysis.childCount(above); c++) {
        int k = analysis.child(above, c);
        int i = r.index(k);
        if (i >= 0 && without[i]) {
          open.push(k);
        } else {
          below.add(k);
        }
      }
    }
    return below.build().toArray();
  }

  private void restrict(
      int[] child, int from, int to, int f, FrontInverse z, StaircaseQr qr, InverseFactor[] tail) {
    for (int c = from; c < to; c++) {
      tail[c] = z.restrict(tailOf(child[c], f), qr, Crew.ALONE);
    }
  }

  private void hand(int i, int child, InverseFactor tail) {
    int c = r.index(child);
    if (c >= 0) {
      tails[c] = tail;
      return;
    }
    var out = new ArrayList<byte[]>(sent.get(i));
    out.addAll(new BlockCodec().encode(tail.pack(child)));
    sent.set(i, out);
  }

  /** A child's tail among the columns of its parent. */
  private int[] tailOf(int child, int f) {
    int[] columns = new int[analysis.cn(child)];
    for (int c = 0; c < columns.length; c++) {
      columns[c] = analysis.column(child, analysis.fp(child) + c);
    }
    return local(f, columns);
  }

  /** The indices of positions, ascending, among the columns of a front that contains them all. */
  private int[] local(int f, int[] positions) {
    int[] local = new int[positions.length];
    int from = 0;
    for (int c = 0; c < local.length; c++) {
      from = FrontColumns.find(analysis, f, positions[c], from);
      local[c] = from;
    }
    return local;
  }
}
