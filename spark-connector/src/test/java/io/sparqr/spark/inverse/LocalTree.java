/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveReport.FactorBytes;
import io.sparqr.spark.solve.TaskColumns;
import io.sparqr.spark.solve.TriangularSolve;
import io.sparqr.spark.stored.FactorChunk;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** The pipeline's frames and tasks in one JVM, without Spark: factorization, x, statistics. */
final class LocalTree implements InverseNorms.Tree {

  final SolvePlan plan;
  final SingletonRows singletons;
  int forwards;

  /** That a task may use. */
  int threads = 1;

  private final RowSplit split;
  private final List<List<TaskOutput>> kept = new ArrayList<>();
  private int[] dead = new int[0];

  private LocalTree(SolvePlan plan, RowSplit split) {
    this.plan = plan;
    this.split = split;
    this.singletons = split.singletons();
  }

  /** Factors; analyzes again where a singleton's pivot is tiny, as the pipeline does. */
  static LocalTree factor(
      CsrMatrix a,
      double[] b,
      SymbolicOptions symbolic,
      PartitionOptions cut,
      SubtreeFactorizer backend) {
    return factor(a, b, symbolic, cut, backend, analysis -> analysis);
  }

  /**
   * The same, with another tree.
   *
   * @param shape puts fronts into it
   */
  static LocalTree factor(
      CsrMatrix a,
      double[] b,
      SymbolicOptions symbolic,
      PartitionOptions cut,
      SubtreeFactorizer backend,
      UnaryOperator<SymbolicAnalysis> shape) {
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    double[] scale = norms.factors();
    double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), 1);
    SymbolicOptions options = symbolic;
    while (true) {
      SymbolicAnalysis analysis = shape.apply(SymbolicAnalyzer.analyze(a.pattern(), options));
      RowSplit split = RowSplit.of(a, b, 1, analysis, scale);
      int[] tiny = split.singletons().tinyPivots(tolerance);
      if (tiny.length == 0) {
        var tree = new LocalTree(plan(analysis, cut, scale, tolerance), split);
        tree.run(backend);
        return tree;
      }
      int[] barred =
          Arrays.copyOf(options.notSingletons(), options.notSingletons().length + tiny.length);
      for (int k = 0; k < tiny.length; k++) {
        barred[barred.length - 1 - k] = analysis.permutation().original(tiny[k]);
      }
      Arrays.sort(barred);
      options = options.withNotSingletons(barred);
    }
  }

  private static SolvePlan plan(
      SymbolicAnalysis analysis, PartitionOptions cut, double[] scale, double tolerance) {
    TreePartition partition =
        analysis.fronts() == 0
            ? new TreePartition(List.of(), 0, new int[0], 0, 0)
            : TreePartitioner.partition(analysis, ResourceModel.uniform(2, 1e9, 1L << 30), cut);
    var numbers =
        new SolvePlan.Numbers(
            1,
            tolerance,
            Ridge.NONE,
            new DeviceVerdict.Refuse("asked for"),
            0,
            true,
            new SolvePlan.Fronts(false, false),
            false,
            0);
    var readings = new io.sparqr.spark.plan.Readings(List.of());
    return new SolvePlan(analysis, partition, scale, new double[] {1}, numbers, readings);
  }

  private void run(SubtreeFactorizer backend) {
    List<ContributionBlock> travelling = new ArrayList<>();
    for (SubtreeTask task : plan.partition().tasks()) {
      List<ContributionBlock> inputs = new ArrayList<>();
      for (var it = travelling.iterator(); it.hasNext(); ) {
        ContributionBlock block = it.next();
        if (plan.taskOf(plan.analysis().parent(block.front())) == task.id()) {
          inputs.add(block);
          it.remove();
        }
      }
      var problem = new SubtreeProblem(plan.analysis(), task.fronts(), rows(task), inputs);
      SubtreeFactor factor =
          backend.factor(problem, new FactorOptions(plan.numbers().tolerance(), 1, 0));
      for (ContributionBlock block : factor.outputs()) {
        if (plan.analysis().parent(block.front()) >= 0) {
          travelling.add(block);
        }
      }
      keep(task, factor);
    }
  }

  private RowBlock rows(SubtreeTask task) {
    RowBlock all = split.rows();
    var batch = new RowBatchCodec.Builder(1);
    for (int i = 0; i < all.rows(); i++) {
      if (plan.taskOf(all.front()[i]) == task.id()) {
        int from = all.rowStart()[i];
        int count = all.rowStart()[i + 1] - from;
        batch.add(all.front()[i], all.position(), all.value(), from, count, all.rhs(), i);
      }
    }
    return RowBatchCodec.decode(List.of(batch.take(0, 0)), 1);
  }

  private void keep(SubtreeTask task, SubtreeFactor factor) {
    for (FrontFactor f : factor.fronts()) {
      for (int k = 0; k < plan.analysis().fp(f.front()); k++) {
        if (Arrays.binarySearch(f.livePivot(), k) < 0) {
          dead = Arrays.copyOf(dead, dead.length + 1);
          dead[dead.length - 1] = plan.analysis().firstPivot(f.front()) + k;
        }
      }
    }
    var report =
        new TaskReport(
            task.id(),
            factor.summary(),
            factor.residualSquares(),
            0,
            new int[0],
            new TaskReport.Bytes(0, 0, 0, FactorBytes.NONE),
            "");
    var mine = new ArrayList<TaskOutput>();
    mine.add(new TaskOutput.Report(report.encode()));
    // both forms in one tree
    if (task.id() % 2 == 0) {
      mine.addAll(KeptFronts.of(factor.fronts(), 1, 2, null));
    } else {
      FactorChunk.encode(new ArrayDeque<>(factor.fronts()), 1, 1)
          .forEachRemaining(frame -> mine.add(new TaskOutput.FactorFrame(frame)));
    }
    kept.add(mine);
  }

  /** Original indices, ascending. */
  int[] dead() {
    return Arrays.stream(dead).map(plan.analysis().permutation()::original).sorted().toArray();
  }

  /** x by original column. */
  double[] solve() {
    // The probe's solution comes beside x.
    double[] z = plan.vector(2);
    for (int t = kept.size() - 1; t >= 0; t--) {
      int[] outside = TaskColumns.outside(plan.analysis(), plan.partition().tasks().get(t));
      double[] value = new double[2 * outside.length];
      for (int i = 0; i < outside.length; i++) {
        System.arraycopy(z, 2 * outside[i], value, 2 * i, 2);
      }
      var given = new Sparse(outside, value, 2);
      byte[] solved = TriangularSolve.back(plan, kept.get(t).iterator(), given, true, allowed());
      Sparse own = VectorCodec.decodeSparse(solved);
      for (int i = 0; i < own.position().length; i++) {
        System.arraycopy(own.value(), 2 * i, z, 2 * own.position()[i], 2);
      }
    }
    double[] x = new double[z.length / 2];
    Arrays.setAll(x, p -> z[2 * p]);
    singletons.backSubstitute(singletons.rhs(), x, 1);
    return plan.unscale(x, 0, 1, 1);
  }

  /** sqrt(diag((A'A)^-1)) by original column, NaN where dead, as the product computes it. */
  double[] unscaledErrors() {
    return new InverseNorms(plan, singletons, dead(), this).run();
  }

  @Override
  public void descend(List<byte[]> asked, double[] norm) {
    List<byte[]> blocks = new ArrayList<>();
    for (int t = kept.size() - 1; t >= 0; t--) {
      int task = t;
      List<byte[]> mine =
          blocks.stream().filter(b -> plan.taskOf(BlockCodec.front(b)) == task).toList();
      for (byte[] out :
          SubtreeInverse.run(
              plan, kept.get(t).iterator(), asked.get(t), mine.iterator(), null, allowed())) {
        if (Frame.kind(out) == Frame.Kind.BLOCK) {
          blocks.add(out);
        } else {
          put(out, norm);
        }
      }
    }
  }

  private int[] allowed() {
    int[] allowed = new int[kept.size()];
    Arrays.fill(allowed, threads);
    return allowed;
  }

  private static void put(byte[] frame, double[] into) {
    Sparse piece = VectorCodec.decodeSparse(frame);
    for (int i = 0; i < piece.position().length; i++) {
      into[piece.position()[i]] = piece.value()[i];
    }
  }

  /** R x = c by position, in place. */
  void back(double[] c, int width) {
    for (int t = kept.size() - 1; t >= 0; t--) {
      SubtreeTask task = plan.partition().tasks().get(t);
      int[] outside = TaskColumns.outside(plan.analysis(), task);
      int[] own = TaskColumns.pivots(plan.analysis(), task);
      int[] position = Arrays.copyOf(outside, outside.length + own.length);
      System.arraycopy(own, 0, position, outside.length, own.length);
      double[] value = new double[position.length * width];
      for (int i = 0; i < position.length; i++) {
        System.arraycopy(c, position[i] * width, value, i * width, width);
      }
      var given = new Sparse(position, value, width);
      Sparse piece =
          VectorCodec.decodeSparse(
              TriangularSolve.back(plan, kept.get(t).iterator(), given, false, allowed()));
      for (int i = 0; i < own.length; i++) {
        System.arraycopy(piece.value(), i * width, c, piece.position()[i] * width, width);
      }
    }
  }

  @Override
  public void forward(double[] c, int width) {
    forwards += width;
    for (int t = 0; t < kept.size(); t++) {
      int[] own = TaskColumns.pivots(plan.analysis(), plan.partition().tasks().get(t));
      double[] value = new double[own.length * width];
      for (int i = 0; i < own.length; i++) {
        System.arraycopy(c, own[i] * width, value, i * width, width);
      }
      Sparse piece =
          VectorCodec.decodeSparse(
              TriangularSolve.forward(
                  plan, kept.get(t).iterator(), new Sparse(own, value, width), false, allowed()));
      for (int i = 0; i < piece.position().length; i++) {
        for (int k = 0; k < width; k++) {
          int at = piece.position()[i] * width + k;
          c[at] = piece.value()[i * width + k] + (i < own.length ? 0 : c[at]);
        }
      }
    }
  }
}
