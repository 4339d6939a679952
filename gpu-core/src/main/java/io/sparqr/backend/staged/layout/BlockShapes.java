/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The sizes of the contribution blocks between stages, by front. */
interface BlockShapes {

  /** The size of a front's block; null if there is none, or none yet. */
  @Nullable BlockShape shape(int front);

  /** Whether there is no block. */
  boolean isEmpty();

  /** The nonempty blocks of the fronts' children, ascending by parent. */
  default List<BlockShape> inputs(SymbolicAnalysis analysis, int[] fronts) {
    var in = new ArrayList<BlockShape>();
    for (int f : fronts) {
      for (int k = 0; k < analysis.childCount(f) && !isEmpty(); k++) {
        BlockShape s = shape(analysis.child(f, k));
        if (s != null && s.cm() > 0) {
          in.add(s);
        }
      }
    }
    return in;
  }

  /**
   * What there will be after a stage whose pivots are all live.
   *
   * @param fronts of the stage
   */
  default BlockShapes after(StageProgram program, int[] fronts) {
    Map<Integer, BlockShape> left = new HashMap<>();
    for (int f = 0; f < fronts.length; f++) {
      FrontDescriptor d = program.descriptor(f);
      if (d.parent() < 0 && d.cn() > 0) {
        left.put(fronts[f], new BlockShape(fronts[f], d.cm(), d.cn(), d.rhs()));
      }
    }
    BlockShapes before = this;
    return new BlockShapes() {
      @Override
      public @Nullable BlockShape shape(int front) {
        BlockShape s = left.get(front);
        return s != null ? s : before.shape(front);
      }

      @Override
      public boolean isEmpty() {
        return left.isEmpty() && before.isEmpty();
      }
    };
  }
}
