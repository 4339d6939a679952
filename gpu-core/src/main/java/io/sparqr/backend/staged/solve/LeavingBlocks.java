/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.util.ArrayList;
import java.util.List;

/**
 * The contribution blocks that leave a stage of sound fronts, copied from its output buffer without
 * the rows of R, which stay on the executor.
 */
public final class LeavingBlocks {

  private LeavingBlocks() {}

  /** Doubles of a front's block in the output buffer, without right-hand sides. */
  static int values(FrontDescriptor d) {
    return d.parent() < 0 ? (int) ContributionBlock.packedLength(d.cm(), d.cn()) : 0;
  }

  /**
   * Copies the blocks of the executor's last stage.
   *
   * @param fronts of the stage, by number of the analysis
   */
  public static List<ContributionBlock> copy(
      RoundExecutor executor, StageProgram program, int[] fronts) {
    var blocks = new ArrayList<ContributionBlock>();
    var slices = new ArrayList<RoundExecutor.Slice>();
    for (int f = 0; f < fronts.length; f++) {
      FrontDescriptor d = program.descriptor(f);
      if (d.parent() >= 0 || d.cm() == 0) {
        continue;
      }
      double[] values = new double[values(d)];
      double[] rhs = new double[d.cm() * d.rhs()];
      long right = (long) d.fp() * d.rhs();
      long at = program.outStart(f) + d.packedDoubles(0, d.fp()) - right;
      slices.add(new RoundExecutor.Slice(at, values));
      if (rhs.length > 0) {
        slices.add(new RoundExecutor.Slice(at + values.length + right, rhs));
      }
      blocks.add(new ContributionBlock(fronts[f], d.cm(), d.cn(), values, rhs, d.rhs()));
    }
    if (!slices.isEmpty()) {
      executor.copyRows(slices);
    }
    return blocks;
  }

  /** Doubles of blocks and their right-hand sides. */
  public static long doubles(List<ContributionBlock> blocks) {
    return blocks.stream().mapToLong(b -> (long) b.values().length + b.rhs().length).sum();
  }

  /**
   * Checks rows that stay on the executor, after blocks have been copied from beside them.
   *
   * @param bits what the rows must have, if the blocks are those of the executor
   * @return whether the rows are still there
   * @throws IntegrityFailure if they have others: then the blocks have changed on their way
   */
  static boolean confirmed(KeptRows rows, long bits) {
    var found = rows.bits();
    if (found.isPresent() && found.getAsLong() != bits) {
      throw new IntegrityFailure("contribution blocks changed on their way from the executor");
    }
    return found.isPresent();
  }
}
