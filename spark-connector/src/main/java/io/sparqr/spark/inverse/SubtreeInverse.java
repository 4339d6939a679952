/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.StaircaseQr;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.TriangularSolve;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.FactorChunk;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Norms of R^-1's rows at one task's pivots, fronts from the top down: each front hands its
 * children the inverse's factor on their tails. Factors for children in other tasks travel as
 * packed trapezoids. On the way questions are answered: sqrt(u'Z u) for u within one front, and
 * leverages of rows are found.
 */
final class SubtreeInverse {

  private final SolvePlan plan;
  private final SymbolicAnalysis analysis;
  private final SubtreeTask task;
  private final RowBlock questions;
  private final StaircaseQr qr = new StaircaseQr(BlasLoader.kernels());
  private final List<FactorChunk.Segment> segments = new ArrayList<>();
  private final Map<Integer, InverseFactor> tails = new HashMap<>();
  private final List<byte[]> out = new ArrayList<>();
  private final RowLeverages leverages;
  private final int[] position;
  private final double[] norm;

  private SubtreeInverse(
      SolvePlan plan, Iterator<byte[]> frames, byte[] asked, Iterator<byte[]> given) {
    this.plan = plan;
    this.analysis = plan.analysis();
    this.task = plan.partition().tasks().get(TaskReport.decode(frames.next()).task());
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.FACTOR) {
        FactorChunk chunk = FactorChunk.open(frame);
        for (int s = 0; s < chunk.segments(); s++) {
          segments.add(chunk.segment(s));
        }
      }
    }
    var blocks = new ArrayList<byte[]>();
    var rows = new ArrayList<byte[]>();
    given.forEachRemaining(g -> (Frame.kind(g) == Frame.Kind.BLOCK ? blocks : rows).add(g));
    for (ContributionBlock b : BlockCodec.decode(blocks.iterator())) {
      tails.put(b.front(), InverseFactor.unpack(b));
    }
    ChangeCodec.refuse(rows);
    this.leverages = new RowLeverages(analysis, rows);
    this.questions = RowBatchCodec.decode(List.of(asked), 1);
    int[] pivots = TriangularSolve.pivots(analysis, task);
    this.position = Arrays.copyOf(pivots, pivots.length + questions.rows());
    this.norm = new double[position.length];
  }

  /**
   * Runs.
   *
   * @param frames of the task, as {@code SubtreeRun} made them
   * @param asked rows u, ascending by front, with their numbers as right-hand sides
   * @param given the inverse's factors on the tails of the task's outputs, and rows whose leverages
   *     are wanted, as {@link io.sparqr.spark.rows.LeverageRouter} sends them
   * @return the norms at the task's pivots, and as position n + k the answer to question k, as one
   *     frame; then factors for children in other tasks; then the leverages
   * @throws io.sparqr.error.InputChangedException if the rows are others than were factorized
   */
  static List<byte[]> run(
      SolvePlan plan, Iterator<byte[]> frames, byte[] asked, Iterator<byte[]> given) {
    var run = new SubtreeInverse(plan, frames, asked, given);
    run.descend();
    return run.out;
  }

  private void descend() {
    int at = position.length - questions.rows();
    int question = questions.rows();
    int end = segments.size();
    for (int i = task.fronts().length - 1; i >= 0; i--) {
      int f = task.fronts()[i];
      int begin = end;
      while (begin > 0 && segments.get(begin - 1).front() == f) {
        begin--;
      }
      FrontInverse z = front(f, segments.subList(begin, end));
      end = begin;
      at -= analysis.fp(f);
      for (int k = 0; k < analysis.fp(f); k++) {
        norm[at + k] = z.norm(k);
      }
      while (question > 0 && questions.front()[question - 1] == f) {
        answer(--question, f, z);
      }
      leverages.front(f, z);
      for (int c = 0; c < analysis.childCount(f); c++) {
        toChild(analysis.child(f, c), f, z);
      }
    }
    out.add(0, VectorCodec.encodeSparse(new Sparse(position, norm, 1)));
    out.addAll(leverages.frames());
  }

  private FrontInverse front(int f, List<FactorChunk.Segment> parts) {
    int rank = parts.stream().mapToInt(FactorChunk.Segment::rows).sum();
    int[] live = new int[rank];
    double[][] rows = new double[rank][];
    int i = 0;
    for (FactorChunk.Segment s : parts) {
      for (int k = 0; k < s.rows(); k++) {
        live[i] = s.livePivot(k);
        rows[i] = new double[s.fn()];
        s.row(k, rows[i++]);
      }
    }
    InverseFactor tail = tails.remove(f);
    if (tail == null) {
      tail = InverseFactor.zero(analysis.cn(f));
    }
    return new FrontInverse(analysis.fp(f), live, rows, tail);
  }

  private void answer(int question, int f, FrontInverse z) {
    int from = questions.rowStart()[question];
    int to = questions.rowStart()[question + 1];
    int[] local = local(f, Arrays.copyOfRange(questions.position(), from, to));
    int at = position.length - questions.rows() + question;
    position[at] = analysis.columns() + (int) questions.rhs()[question];
    norm[at] = z.norm(local, questions.value(), from, to - from);
  }

  private void toChild(int child, int f, FrontInverse z) {
    int cn = analysis.cn(child);
    if (cn == 0) {
      return;
    }
    int[] columns = new int[cn];
    for (int c = 0; c < cn; c++) {
      columns[c] = analysis.column(child, analysis.fp(child) + c);
    }
    InverseFactor tail = z.restrict(local(f, columns), qr);
    if (plan.taskOf(child) == task.id()) {
      tails.put(child, tail);
    } else {
      out.addAll(new BlockCodec().encode(tail.pack(child)));
    }
  }

  /** Where positions, ascending, are among the columns of a front that has them all. */
  private int[] local(int f, int[] positions) {
    int[] local = new int[positions.length];
    int k = 0;
    for (int c = 0; c < local.length; c++) {
      while (analysis.column(f, k) != positions[c]) {
        k++;
      }
      local[c] = k;
    }
    return local;
  }
}
