/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

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
import io.sparqr.spark.rows.RowNumbers;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ReflectedCodec;
import io.sparqr.spark.wire.ReflectedCodec.Reflected;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.spark.wire.RowValuesCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * Thin Q times some vectors by the reflectors stored with R, back to the partitions of the rows.
 * {@link Reflection} backwards: the numbers of the rows are shuffled to the tasks of their fronts,
 * once; then Q is applied level by level from the root down, values of contribution blocks passed
 * on through the driver; then the rows' values are shuffled to where the rows are. One job for each
 * level and one for the rows.
 */
public final class QProduct {

  private final RowSource source;
  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final FactorLevels levels;
  private final Held held;

  /** The numbers of the rows by task, shuffled at the first product. */
  private @Nullable JavaPairRDD<Integer, byte[]> numbers;

  /**
   * Q times vectors.
   *
   * @param rows width values for each row, as the rows lie; stored until the factorization is
   *     closed
   * @param ridge n x width by position: the values at the ridge rows; empty without a ridge
   */
  public record Product(JavaRDD<double[]> rows, double[] ridge) {}

  /**
   * For the rows that were factorized.
   *
   * @param held keeps what is needed to compute the results again, as long as the factorization
   */
  public QProduct(RowSource source, PlanHandle plan, FactorLevels levels, Held held) {
    this.source = source;
    this.broadcast = plan;
    this.plan = plan.value();
    this.levels = levels;
    this.held = held;
  }

  /**
   * Applies Q.
   *
   * @param c n x width by position; not read at dependent columns
   * @param results keeps the result
   */
  public Product run(double[] c, int width, Held results, JobScope scope) {
    JavaPairRDD<Integer, byte[]> ids = numbers();
    Map<Integer, ContributionRhs> passing = new HashMap<>();
    boolean ridge = plan.numbers().ridge().any();
    double[] ridgeRows = new double[ridge ? c.length : 0];
    if (ridge) {
      // With a ridge singletons are columns without entries: their rows of R are ridge rows.
      System.arraycopy(c, 0, ridgeRows, 0, plan.analysis().singletons() * width);
    }
    JavaRDD<byte[]> all = singletons(ids, c, width);
    try (var soon = new Held()) {
      for (int l = levels.count() - 1; l >= 0; l--) {
        scope.describe("Q times vectors, level " + (l + 1) + " of " + levels.count());
        JavaRDD<byte[]> level = level(l, ids, passing, c, width);
        soon.persist(level, StorageLevel.MEMORY_AND_DISK());
        JavaRDD<byte[]> passed = level.filter(f -> Frame.kind(f) == Frame.Kind.REFLECTED);
        for (byte[] frame : SparkErrors.unwrap(passed::collect)) {
          Reflected r = ReflectedCodec.decode(frame);
          for (int i = 0; i < r.position().length; i++) {
            System.arraycopy(r.value(), i * width, ridgeRows, r.position()[i] * width, width);
          }
          r.blocks().forEach(b -> passing.put(b.front(), b));
        }
        all = all.union(level);
      }
      scope.describe("Q times vectors, back to the partitions of the rows");
      JavaRDD<double[]> rows = back(all, width);
      results.persist(rows.setName("sparqr Q times vectors"), StorageLevel.MEMORY_AND_DISK());
      SparkErrors.unwrap(rows::count);
      return new Product(rows, ridgeRows);
    }
  }

  private JavaPairRDD<Integer, byte[]> numbers() {
    JavaPairRDD<Integer, byte[]> made = numbers;
    if (made == null) {
      PlanHandle b = broadcast;
      JavaRDD<Tuple2<Integer, byte[]>> routed =
          JobScope.named(
              source.context(),
              "Q, numbers of rows to the tasks of their fronts",
              () ->
                  source
                      .rows()
                      .mapPartitionsWithIndex(
                          (p, rows) -> new RowNumbers(b.value(), p, rows), false));
      made = ShuffledFrames.of(routed, plan.driverKey() + 1);
      numbers = made;
    }
    return made;
  }

  private JavaRDD<byte[]> level(
      int l,
      JavaPairRDD<Integer, byte[]> ids,
      Map<Integer, ContributionRhs> passing,
      double[] c,
      int width) {
    List<SubtreeTask> tasks = plan.partition().level(l);
    int first = tasks.get(0).id();
    PlanHandle b = broadcast;
    TaskInput given = inputs(tasks, passing, c, width);
    return levels
        .frames(l, Frame.Kind.REFLECTORS)
        .zipPartitions(
            given
                .rdd()
                .mapPartitionsWithIndex(QProduct::numbered, false)
                .zipPartitions(TaskSlice.of(ids, first, tasks.size()), QProduct::joined),
            (frames, in) -> {
              int task = first + ByteBuffer.wrap(in.next()).getInt();
              return QProductTask.run(b.value(), task, frames, given.frame(in.next()), in)
                  .iterator();
            });
  }

  /**
   * The partition's own number before its element. A partition that is lost is made again by a task
   * of the union of all levels, whose number is another one.
   */
  private static Iterator<byte[]> numbered(int partition, Iterator<byte[]> element) {
    return List.of(ByteBuffer.allocate(Integer.BYTES).putInt(partition).array(), element.next())
        .iterator();
  }

  private static Iterator<byte[]> joined(Iterator<byte[]> first, Iterator<byte[]> second) {
    var all = new ArrayList<byte[]>();
    first.forEachRemaining(all::add);
    second.forEachRemaining(all::add);
    return all.iterator();
  }

  private TaskInput inputs(
      List<SubtreeTask> tasks, Map<Integer, ContributionRhs> passing, double[] c, int width) {
    var frames = new ArrayList<byte[]>();
    for (SubtreeTask t : tasks) {
      var blocks = new ArrayList<ContributionRhs>();
      for (int f : t.outputs()) {
        ContributionRhs block = passing.remove(f);
        if (block != null) {
          blocks.add(block);
        }
      }
      int[] pivots = TaskColumns.pivots(plan.analysis(), t);
      double[] value = gathered(c, pivots, width);
      frames.add(
          ReflectedCodec.encode(new Reflected(width, pivots, value, new double[width], blocks)));
    }
    return new TaskInput(source.context(), held, frames);
  }

  /** The values at some positions. */
  static double[] gathered(double[] c, int[] position, int width) {
    double[] value = new double[Math.multiplyExact(position.length, width)];
    for (int i = 0; i < position.length; i++) {
      System.arraycopy(c, position[i] * width, value, i * width, width);
    }
    return value;
  }

  /** The rows of no front: those of singletons, which are rows of R, and those without entries. */
  private JavaRDD<byte[]> singletons(JavaPairRDD<Integer, byte[]> ids, double[] c, int width) {
    int count = plan.analysis().singletons();
    int[] position = new int[count];
    Arrays.setAll(position, p -> p);
    byte[] own =
        VectorCodec.encodeSparse(new Sparse(position, Arrays.copyOf(c, count * width), width));
    var given = new TaskInput(source.context(), held, List.of(own));
    return given
        .rdd()
        .zipPartitions(
            TaskSlice.of(ids, plan.driverKey(), 1),
            (in, frames) ->
                singletonRows(VectorCodec.decodeSparse(given.frame(in.next())), frames));
  }

  private static Iterator<byte[]> singletonRows(Sparse c, Iterator<byte[]> frames) {
    var out = new ArrayList<byte[]>();
    var batches = new ArrayList<byte[]>();
    var sent = new ArrayList<byte[]>();
    frames.forEachRemaining(sent::add);
    ChangeCodec.refuse(sent);
    for (byte[] frame : sent) {
      (Frame.kind(frame) == Frame.Kind.ROWS ? batches : out).add(frame);
    }
    RowBlock rows = RowBatchCodec.decode(batches, RowNumbers.WIDTH);
    int width = c.width();
    for (int i = 0; i < rows.rows(); i++) {
      double[] value = new double[width];
      if (rows.rowStart()[i + 1] > rows.rowStart()[i]) {
        int p = rows.position()[rows.rowStart()[i]];
        System.arraycopy(c.value(), p * width, value, 0, width);
      }
      int[] number = {(int) rows.rhs()[i * RowNumbers.WIDTH + 1]};
      int partition = (int) rows.rhs()[i * RowNumbers.WIDTH];
      out.add(RowValuesCodec.encode(partition, number, value, width, 0, 1));
    }
    return out.iterator();
  }

  private JavaRDD<double[]> back(JavaRDD<byte[]> frames, int width) {
    PlanHandle b = broadcast;
    return ShuffledFrames.of(frames.mapPartitions(QProduct::byPartition), source.partitions())
        .values()
        .mapPartitionsWithIndex(
            (p, in) -> merged(p, b.value().readings().of(p).rows(), in, width), true);
  }

  private static Iterator<Tuple2<Integer, byte[]>> byPartition(Iterator<byte[]> frames) {
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.ROW_VALUES) {
        out.add(new Tuple2<>(RowValuesCodec.partition(frame), frame));
      }
    }
    return out.iterator();
  }

  /** The values of a partition's rows; a row of weight 0, of which none have come, has zeros. */
  private static Iterator<double[]> merged(
      int partition, long weighted, Iterator<byte[]> frames, int width) {
    var all = new ArrayList<byte[]>();
    int rows = -1;
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      all.add(frame);
      rows = Math.max(rows, RowValuesCodec.rows(frame));
    }
    if (rows < 0) {
      throw new IllegalStateException("the number of rows of partition " + partition + " is lost");
    }
    var value = new double[rows][];
    all.forEach(frame -> RowValuesCodec.decode(frame, width, value));
    long come = 0;
    for (int i = 0; i < rows; i++) {
      come += value[i] == null ? 0 : 1;
      value[i] = value[i] == null ? new double[width] : value[i];
    }
    if (come != weighted) {
      throw new IllegalStateException(
          "of partition %d the values of %,d rows have come, not %,d"
              .formatted(partition, come, weighted));
    }
    return Arrays.asList(value).iterator();
  }
}
