/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.ContributionRhs;
import io.sparqr.numeric.RowBlock;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.factor.TaskSlice;
import io.sparqr.spark.parts.ShuffledFrames;
import io.sparqr.spark.parts.TaskInput;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RhsRouter;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.ReflectedCodec;
import io.sparqr.spark.wire.ReflectedCodec.Reflected;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Q'b for further right-hand sides by the reflectors stored with R. The right-hand sides, without
 * entries, are shuffled to the tasks of their rows' fronts; then Q' is applied level by level. The
 * right-hand sides of contribution blocks, at most as many values as R has columns, are passed on
 * through the driver, as in the triangular solves. One job for the rows and one per level.
 */
public final class Reflection {

  private final RowSource source;
  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final FactorLevels levels;
  private final long expectedRows;
  private final Vectors vectors;

  /**
   * What the labels of the rows are.
   *
   * @param weighted whether they are right-hand sides, to be multiplied by sqrt(weight), or vectors
   *     of the weighted rows
   * @param ridge n x width by position: their values at the ridge rows; empty: zero
   */
  public record Vectors(boolean weighted, double[] ridge) {
    /** Right-hand sides. */
    static final Vectors LABELS = new Vectors(true, new double[0]);
  }

  /**
   * Q'b.
   *
   * @param width right-hand sides
   * @param c n x width by position: Q'b at the live pivots, b itself at the singletons
   * @param residual size width: norm of the remaining components of Q'b
   */
  public record Result(int width, double[] c, double[] residual) {}

  /** For the same number of rows as factorized, aligned with them. */
  public Reflection(RowSource source, PlanHandle plan, FactorLevels levels, long expectedRows) {
    this(source, plan, levels, expectedRows, Vectors.LABELS);
  }

  /** The same for other vectors than right-hand sides. */
  public Reflection(
      RowSource source, PlanHandle plan, FactorLevels levels, long expectedRows, Vectors vectors) {
    this.vectors = vectors;
    this.source = source;
    this.broadcast = plan;
    this.plan = plan.value();
    this.levels = levels;
    this.expectedRows = expectedRows;
  }

  /** Transforms the labels of the source's rows. */
  public Result run(JobScope scope) {
    scope.describe("further right-hand sides to the tasks of their rows");
    JavaPairRDD<Integer, byte[]> shuffled = shuffle();
    Result result = driverShare(shuffled);
    Map<Integer, ContributionRhs> passing = new HashMap<>();
    for (int l = 0; l < levels.count(); l++) {
      scope.describe("Q'b, level " + (l + 1) + " of " + levels.count());
      List<SubtreeTask> tasks = plan.partition().level(l);
      int first = tasks.get(0).id();
      PlanHandle b = broadcast;
      int width = result.width;
      try (var inputs = new Held()) {
        TaskInput given = inputs(tasks, passing, width, inputs);
        JavaRDD<byte[]> rows = TaskSlice.of(shuffled, first, tasks.size());
        JavaRDD<byte[]> level =
            levels
                .frames(l, Frame.Kind.REFLECTORS)
                .zipPartitions(
                    given.rdd().zipPartitions(rows, Reflection::joined),
                    (frames, in) -> {
                      int task = first + TaskContext.getPartitionId();
                      byte[] below = given.frame(in.next());
                      byte[] made = ReflectionTask.run(b.value(), task, frames, below, in, width);
                      return List.of(made).iterator();
                    });
        for (byte[] frame : SparkErrors.unwrap(level::collect)) {
          take(ReflectedCodec.decode(frame), result, passing);
        }
      }
    }
    return result;
  }

  private static Iterator<byte[]> joined(Iterator<byte[]> first, Iterator<byte[]> second) {
    var all = new ArrayList<byte[]>();
    first.forEachRemaining(all::add);
    second.forEachRemaining(all::add);
    return all.iterator();
  }

  private JavaPairRDD<Integer, byte[]> shuffle() {
    PlanHandle b = broadcast;
    boolean weighted = vectors.weighted;
    JavaRDD<Tuple2<Integer, byte[]>> routed =
        source
            .rows()
            .mapPartitionsWithIndex(
                (p, rows) -> new RhsRouter(b.value(), p, rows, weighted), false);
    return ShuffledFrames.of(routed, plan.driverKey() + 1);
  }

  /**
   * The driver's part: singleton rows, rows without entries, and a check that all rows were
   * received.
   */
  private Result driverShare(JavaPairRDD<Integer, byte[]> shuffled) {
    int[] key = {plan.driverKey()};
    List<byte[]>[] frames =
        JobScope.run(
            source.context(),
            "further right-hand sides of singleton rows",
            () -> shuffled.values().collectPartitions(key));
    ChangeCodec.refuse(frames[0]);
    var parts = new ArrayList<RhsRouter.Part>();
    var batches = new ArrayList<byte[]>();
    for (byte[] frame : frames[0]) {
      if (Frame.kind(frame) == Frame.Kind.ROWS) {
        batches.add(frame);
      } else {
        parts.add(ObjectCodec.decode(frame, RhsRouter.Part.class));
      }
    }
    Result result = empty(parts);
    if (vectors.ridge.length > 0) {
      // With a ridge singletons are columns without entries: their rows of R are ridge rows.
      int first = plan.analysis().singletons() * result.width;
      System.arraycopy(vectors.ridge, 0, result.c, 0, first);
    }
    RowBlock singletons = RowBatchCodec.decode(batches, result.width);
    for (int i = 0; i < singletons.rows(); i++) {
      int p = singletons.position()[singletons.rowStart()[i]];
      System.arraycopy(
          singletons.rhs(), i * result.width, result.c, p * result.width, result.width);
    }
    return result;
  }

  private Result empty(List<RhsRouter.Part> parts) {
    parts.sort(java.util.Comparator.comparingInt(RhsRouter.Part::partition));
    long rows = 0;
    RhsRouter.Part first = null;
    for (RhsRouter.Part p : parts) {
      rows += p.rows();
      if (p.rows() == 0) {
        continue;
      }
      first = first == null ? p : first;
      if (p.width() != first.width()) {
        throw new DimensionMismatchException(
            "rows of partition %d have %d right-hand sides, those of partition %d %d"
                .formatted(p.partition(), p.width(), first.partition(), first.width()),
            "right-hand sides",
            first.width(),
            p.width());
      }
    }
    if (rows != expectedRows) {
      throw new DimensionMismatchException(
          "%,d rows with new right-hand sides for a matrix of %,d".formatted(rows, expectedRows),
          "rows",
          expectedRows,
          rows);
    }
    int width = first == null ? 0 : first.width();
    long length = (long) plan.analysis().columns() * width;
    if (length > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          width + " right-hand sides of " + plan.analysis().columns() + " columns at once",
          "solution",
          length);
    }
    double[] residual = new double[width];
    for (RhsRouter.Part p : parts) {
      addNorms(p.rows() > 0 ? p.empty() : new double[width], residual);
    }
    return new Result(width, new double[(int) length], residual);
  }

  private static void addNorms(double[] norms, double[] to) {
    for (int k = 0; k < to.length; k++) {
      to[k] = Math.hypot(to[k], norms[k]);
    }
  }

  private static void take(Reflected r, Result result, Map<Integer, ContributionRhs> passing) {
    for (int i = 0; i < r.position().length; i++) {
      System.arraycopy(
          r.value(), i * result.width, result.c, r.position()[i] * result.width, result.width);
    }
    addNorms(r.residual(), result.residual);
    for (ContributionRhs c : r.blocks()) {
      passing.put(c.front(), c);
    }
  }

  private Reflected given(SubtreeTask task, int width, List<ContributionRhs> blocks) {
    if (vectors.ridge.length == 0) {
      return Reflected.blocks(width, blocks);
    }
    int[] pivots = TaskColumns.pivots(plan.analysis(), task);
    double[] value = QProduct.gathered(vectors.ridge, pivots, width);
    return new Reflected(width, pivots, value, new double[width], blocks);
  }

  private TaskInput inputs(
      List<SubtreeTask> tasks, Map<Integer, ContributionRhs> passing, int width, Held held) {
    var frames = new ArrayList<byte[]>();
    for (SubtreeTask t : tasks) {
      var blocks = new ArrayList<ContributionRhs>();
      for (int f : t.inputs()) {
        ContributionRhs c = passing.remove(f);
        if (c != null) {
          blocks.add(c);
        }
      }
      frames.add(ReflectedCodec.encode(given(t, width, blocks)));
    }
    return new TaskInput(JavaSparkContext.fromSparkContext(source.rows().context()), held, frames);
  }
}
