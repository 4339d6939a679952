/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.TaskQProduct;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorProduct;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RowNumbers;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ReflectedCodec;
import io.sparqr.spark.wire.ReflectedCodec.Reflected;
import io.sparqr.spark.wire.ReflectorCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.spark.wire.RowValuesCodec;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Applies Q of one task, where its reflectors are stored, from its last front to its first. */
final class QProductTask {

  private QProductTask() {}

  /**
   * Runs a task.
   *
   * @param frames of the task, reflectors among them
   * @param given the vectors at the task's pivots, and at the blocks that it passed on
   * @param batches numbers of rows, by {@link RowNumbers}
   * @return a frame of {@link Reflected} with the values at the ridge rows and at the blocks that
   *     the task received, then frames of {@link RowValuesCodec}, one for each partition of rows
   */
  static List<byte[]> run(
      SolvePlan plan, int task, Iterator<byte[]> frames, byte[] given, Iterator<byte[]> batches) {
    var sent = new ArrayList<byte[]>();
    batches.forEachRemaining(sent::add);
    ChangeCodec.refuse(sent);
    Reflected above = ReflectedCodec.decode(given);
    RowBlock rows = RowBatchCodec.decode(sent, RowNumbers.WIDTH);
    sent.clear();
    int width = above.width();
    var run =
        new TaskQProduct(
            plan.analysis(),
            plan.partition().tasks().get(task).fronts(),
            rows.front(),
            above.value(),
            width,
            plan.numbers().ridge().any(),
            above.blocks());
    backwards(frames, run, width >= ReflectorProduct.BLOCKED);
    double[] ridge = run.ridgeRows();
    int[] pivots = ridge.length > 0 ? above.position() : new int[0];
    var out = new ArrayList<byte[]>();
    out.add(
        ReflectedCodec.encode(
            new Reflected(width, pivots, ridge, new double[width], run.inputs())));
    addRows(rows, run.rows(), width, out);
    return out;
  }

  /** The places of rows of each front, read first; then the frames from the last to the first. */
  private static void backwards(Iterator<byte[]> frames, TaskQProduct run, boolean grouped) {
    var stored = new ArrayList<byte[]>();
    var places = new Places();
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.REFLECTORS) {
        stored.add(frame);
        ReflectorCodec.read(frame, places);
      }
    }
    int front = places.fronts.size() - 1;
    boolean open = false;
    for (int f = stored.size() - 1; f >= 0; f--) {
      var records = new Records();
      ReflectorCodec.read(stored.set(f, new byte[0]), records);
      for (int r = records.blocks.size() - 1; r >= 0; r--) {
        List<ReflectorBlock> blocks = records.blocks.get(r);
        if (!open && front >= 0) {
          run.begin(places.fronts.get(front));
          open = true;
        }
        List<ReflectorBlock> all = grouped ? ReflectorProduct.grouped(blocks) : blocks;
        for (int k = all.size() - 1; k >= 0; k--) {
          run.apply(all.get(k));
        }
        // The first list of a frame belongs to a front of an earlier frame.
        if (r > 0) {
          run.end();
          open = false;
          front--;
        }
      }
    }
  }

  /** One frame for each source partition of the rows. */
  private static void addRows(RowBlock rows, double[] value, int width, List<byte[]> out) {
    int count = rows.rows();
    int[] number = new int[count];
    for (int i = 0; i < count; i++) {
      number[i] = (int) rows.rhs()[i * RowNumbers.WIDTH + 1];
    }
    int from = 0;
    for (int i = 1; i <= count; i++) {
      if (i == count || partition(rows, i) != partition(rows, from)) {
        out.add(RowValuesCodec.encode(partition(rows, from), number, value, width, from, i));
        from = i;
      }
    }
  }

  private static int partition(RowBlock rows, int i) {
    return (int) rows.rhs()[i * RowNumbers.WIDTH];
  }

  /** The fronts alone. */
  private static final class Places implements ReflectorCodec.Visitor {
    private final List<FrontReflectors> fronts = new ArrayList<>();

    @Override
    public void front(FrontReflectors front) {
      fronts.add(front);
    }

    @Override
    public void block(ReflectorBlock block) {
      // Read again, from the last to the first.
    }
  }

  /** The reflectors of a frame: first those of a front that began before, then front by front. */
  private static final class Records implements ReflectorCodec.Visitor {
    private final List<List<ReflectorBlock>> blocks = new ArrayList<>();

    Records() {
      blocks.add(new ArrayList<>());
    }

    @Override
    public void front(FrontReflectors front) {
      blocks.add(new ArrayList<>());
    }

    @Override
    public void block(ReflectorBlock block) {
      blocks.get(blocks.size() - 1).add(block);
    }
  }
}
