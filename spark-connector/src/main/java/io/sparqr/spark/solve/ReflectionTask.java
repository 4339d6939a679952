/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.TaskReflection;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorProduct;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ReflectedCodec;
import io.sparqr.spark.wire.ReflectedCodec.Reflected;
import io.sparqr.spark.wire.ReflectorCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Applies Q' of one task to further right-hand sides, where the task's reflectors are stored. */
final class ReflectionTask {

  /** Pieces of about 1 MB that are looked at together, to join those on the same rows. */
  private static final int PIECES = 32;

  private ReflectionTask() {}

  /**
   * Runs a task.
   *
   * @param frames of the task, reflectors among them
   * @param given right-hand sides of the lower tasks' contribution blocks
   * @param batches right-hand sides of rows
   * @return a frame of {@link Reflected}
   */
  static byte[] run(
      SolvePlan plan,
      int task,
      Iterator<byte[]> frames,
      byte[] given,
      Iterator<byte[]> batches,
      int width) {
    var sent = new ArrayList<byte[]>();
    batches.forEachRemaining(sent::add);
    ChangeCodec.refuse(sent);
    Reflected below = ReflectedCodec.decode(given);
    RowBlock rows = RowBatchCodec.decode(sent, width);
    sent.clear();
    var run =
        new TaskReflection(
            plan.analysis(),
            plan.partition().tasks().get(task).fronts(),
            rows.front(),
            rows.rhs(),
            width,
            plan.numbers().ridge().any(),
            below.blocks());
    if (below.value().length > 0) {
      run.ridgeRows(below.value());
    }
    var fronts = new Fronts(run, width);
    while (frames.hasNext()) {
      byte[] frame = frames.next();
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
    private final boolean grouped;

    /** Pieces of reflectors of the open front, not yet applied. */
    private final List<ReflectorBlock> pieces = new ArrayList<>();

    private boolean open;

    Fronts(TaskReflection run, int width) {
      this.run = run;
      this.grouped = width >= ReflectorProduct.BLOCKED;
    }

    @Override
    public void front(FrontReflectors front) {
      end();
      run.begin(front);
      open = true;
    }

    @Override
    public void block(ReflectorBlock block) {
      if (!grouped) {
        run.apply(block);
        return;
      }
      pieces.add(block);
      if (pieces.size() == PIECES) {
        apply();
      }
    }

    private void apply() {
      ReflectorProduct.grouped(pieces).forEach(run::apply);
      pieces.clear();
    }

    void end() {
      apply();
      if (open) {
        run.end();
        open = false;
      }
    }
  }
}
