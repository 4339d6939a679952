/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.TaskReflection;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.spark.factor.FromTask;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ReflectedCodec;
import io.sparqr.spark.wire.ReflectedCodec.Reflected;
import io.sparqr.spark.wire.ReflectorCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * Applies Q' of one level's tasks to further right-hand sides: partition i is one {@link Reflected}
 * frame of task first + i, computed where the task's reflectors are stored.
 */
final class ReflectionRdd extends RDD<byte[]> {

  private static final long serialVersionUID = 1;

  private final PlanHandle plan;
  private final TaskInput given;
  private final int first;
  private final int count;
  private final int width;

  /**
   * @param level persisted frames of {@code SubtreeRun}
   * @param rhs shuffled right-hand sides of rows, partition = task
   * @param given right-hand sides of the lower tasks' contribution blocks
   */
  ReflectionRdd(
      PlanHandle plan,
      int first,
      int count,
      int width,
      RDD<byte[]> level,
      RDD<Tuple2<Integer, byte[]>> rhs,
      TaskInput given) {
    super(
        level.context(),
        CollectionConverters.asScala(
                List.<Dependency<?>>of(
                    new OneToOneDependency<>(level),
                    new FromTask(rhs, first),
                    new OneToOneDependency<>(given.rdd().rdd())))
            .toSeq(),
        ClassTag$.MODULE$.apply(byte[].class));
    this.plan = plan;
    this.given = given;
    this.first = first;
    this.count = count;
    this.width = width;
  }

  @Override
  public Partition[] getPartitions() {
    var all = new Partition[count];
    Seq<Dependency<?>> parents = dependencies();
    for (int i = 0; i < count; i++) {
      all[i] =
          new Slot(
              i,
              parents.apply(0).rdd().partitions()[i],
              parents.apply(1).rdd().partitions()[first + i],
              parents.apply(2).rdd().partitions()[i]);
    }
    return all;
  }

  /** A partition with its parents' partitions, which an executor cannot look up. */
  private record Slot(int index, Partition frames, Partition rows, Partition given)
      implements Partition {
    @Override
    public int hashCode() {
      return index;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Slot s && s.index == index;
    }
  }

  @Override
  public Iterator<byte[]> compute(Partition split, TaskContext context) {
    Seq<Dependency<?>> parents = dependencies();
    var slot = (Slot) split;
    var rows = new ArrayList<byte[]>();
    Iterator<?> shuffled = parents.apply(1).rdd().iterator(slot.rows, context);
    while (shuffled.hasNext()) {
      rows.add((byte[]) ((Tuple2<?, ?>) shuffled.next())._2());
    }
    ChangeCodec.refuse(rows);
    Iterator<?> inputs = parents.apply(2).rdd().iterator(slot.given, context);
    Reflected below = ReflectedCodec.decode(given.frame((byte[]) inputs.next()));
    Iterator<?> frames = parents.apply(0).rdd().iterator(slot.frames, context);
    byte[] result = reflect(plan.value(), first + slot.index, frames, rows, below, width);
    return CollectionConverters.asScala(List.of(result).iterator());
  }

  private static byte[] reflect(
      SolvePlan plan,
      int task,
      Iterator<?> frames,
      List<byte[]> batches,
      Reflected below,
      int width) {
    RowBlock rows = RowBatchCodec.decode(batches, width);
    batches.clear();
    var run =
        new TaskReflection(
            plan.analysis(),
            plan.partition().tasks().get(task).fronts(),
            rows.front(),
            rows.rhs(),
            width,
            plan.numbers().ridge().any(),
            below.blocks());
    var fronts = new Fronts(run);
    while (frames.hasNext()) {
      byte[] frame = (byte[]) frames.next();
      if (Frame.kind(frame) == Frame.Kind.REFLECTORS) {
        ReflectorCodec.read(frame, fronts);
      }
    }
    fronts.end();
    return ReflectedCodec.encode(
        new Reflected(width, run.positions(), run.values(), run.residual(), run.outputs()));
  }

  /** Processes the fronts one after the other; a front ends where the next one begins. */
  private static final class Fronts implements ReflectorCodec.Visitor {
    private final TaskReflection run;
    private boolean open;

    Fronts(TaskReflection run) {
      this.run = run;
    }

    @Override
    public void front(FrontReflectors front) {
      end();
      run.begin(front);
      open = true;
    }

    @Override
    public void block(ReflectorBlock block) {
      run.apply(block);
    }

    void end() {
      if (open) {
        run.end();
        open = false;
      }
    }
  }
}
