/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.FactorChunk;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ReportCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * diag((R'R)^-1) at one task's pivots, fronts from the top down: each front hands its children the
 * inverse on their tails. Blocks for children in other tasks travel as packed triangles.
 */
final class SubtreeInverse {

  private final SolvePlan plan;
  private final SymbolicAnalysis analysis;
  private final SubtreeTask task;
  private final List<FactorChunk.Segment> segments = new ArrayList<>();
  private final Map<Integer, double[]> tailInverse = new HashMap<>();
  private final List<byte[]> out = new ArrayList<>();

  private SubtreeInverse(SolvePlan plan, Iterator<byte[]> frames, Iterator<byte[]> blocks) {
    this.plan = plan;
    this.analysis = plan.analysis();
    this.task =
        plan.partition().tasks().get(ReportCodec.decode(frames.next(), TaskReport.class).task());
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.FACTOR) {
        FactorChunk chunk = FactorChunk.open(frame);
        for (int s = 0; s < chunk.segments(); s++) {
          segments.add(chunk.segment(s));
        }
      }
    }
    for (ContributionBlock b : BlockCodec.decode(blocks)) {
      tailInverse.put(b.front(), unpack(b));
    }
  }

  /**
   * Runs.
   *
   * @param frames of the task, as {@link SubtreeRun#run} made them
   * @param blocks the inverse on the tails of the task's outputs
   * @return the diagonal at the task's pivots, then blocks for children in other tasks
   */
  static List<byte[]> run(SolvePlan plan, Iterator<byte[]> frames, Iterator<byte[]> blocks) {
    var run = new SubtreeInverse(plan, frames, blocks);
    run.descend();
    return run.out;
  }

  private void descend() {
    int[] pivots = TriangularSolve.pivots(analysis, task);
    double[] diagonal = new double[pivots.length];
    int at = pivots.length;
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
        diagonal[at + k] = z.diagonal(k);
      }
      for (int c = 0; c < analysis.childCount(f); c++) {
        toChild(analysis.child(f, c), f, z);
      }
    }
    out.add(0, VectorCodec.encodeSparse(new Sparse(pivots, diagonal, 1)));
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
    double[] z22 = tailInverse.remove(f);
    if (z22 == null) {
      z22 = new double[0];
    }
    return new FrontInverse(analysis.fp(f), analysis.fn(f), live, rows, z22);
  }

  private void toChild(int child, int f, FrontInverse z) {
    int cn = analysis.cn(child);
    int[] local = new int[cn];
    int k = 0;
    for (int c = 0; c < cn; c++) {
      int position = analysis.column(child, analysis.fp(child) + c);
      while (analysis.column(f, k) != position) {
        k++;
      }
      local[c] = k;
    }
    double[] block = z.restrict(local);
    if (plan.taskOf(child) == task.id()) {
      tailInverse.put(child, block);
    } else {
      out.addAll(new BlockCodec().encode(pack(child, cn, block)));
    }
  }

  private static ContributionBlock pack(int front, int cn, double[] full) {
    double[] packed = new double[Math.toIntExact(ContributionBlock.packedLength(cn, cn))];
    int at = 0;
    for (int i = 0; i < cn; i++) {
      for (int j = i; j < cn; j++) {
        packed[at++] = full[j + i * cn];
      }
    }
    return new ContributionBlock(front, cn, cn, packed, new double[0], 0);
  }

  private static double[] unpack(ContributionBlock b) {
    int cn = b.cn();
    double[] full = new double[cn * cn];
    int at = 0;
    for (int i = 0; i < cn; i++) {
      for (int j = i; j < cn; j++) {
        full[j + i * cn] = b.values()[at];
        full[i + j * cn] = b.values()[at++];
      }
    }
    return full;
  }
}
