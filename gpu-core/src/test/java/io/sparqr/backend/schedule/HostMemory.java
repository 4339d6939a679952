/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.backend.schedule.RoundExecutor.RowSink;
import io.sparqr.backend.schedule.RoundExecutor.StageInput;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What a task has on the host while an executor works: places for faults. */
public final class HostMemory {

  private HostMemory() {}

  /** An entry of an array. */
  public record Place(double[] array, int index) {}

  /** A value of the stage's rows, right-hand sides included; null: it has none. */
  public static Place row(StageInput input, Random random) {
    var values = (StageValues) input;
    RowBlock r = values.rows().rows();
    int f = values.fronts()[random.nextInt(values.fronts().length)];
    int n = values.rows().count(f);
    if (n == 0) {
      return null;
    }
    int i = values.rows().row(f, random.nextInt(n));
    int from = r.rowStart()[i];
    int length = r.rowStart()[i + 1] - from;
    int k = random.nextInt(length + r.rhsCount());
    return k < length
        ? new Place(r.value(), from + k)
        : new Place(r.rhs(), i * r.rhsCount() + k - length);
  }

  /** A value of R or Q'b that has come so far; null: there is none. */
  public static Place ofR(RowSink sink, Random random) {
    List<double[]> arrays = new ArrayList<>();
    for (FrontFactor f : ((StageRows) sink).done.factor) {
      if (f != null) {
        arrays.add(f.values());
        arrays.add(f.rhs());
      }
    }
    return any(arrays, random);
  }

  /** A value of a block that is held; null: there is none. */
  public static Place ofBlock(RowSink sink, Random random) {
    List<double[]> arrays = new ArrayList<>();
    for (ContributionBlock b : ((StageRows) sink).done.blocks.block) {
      if (b != null) {
        arrays.add(b.values());
        arrays.add(b.rhs());
      }
    }
    return any(arrays, random);
  }

  private static Place any(List<double[]> arrays, Random random) {
    int all = arrays.stream().mapToInt(a -> a.length).sum();
    int k = all == 0 ? 0 : random.nextInt(all);
    for (double[] a : arrays) {
      if (k < a.length) {
        return new Place(a, k);
      }
      k -= a.length;
    }
    return null;
  }
}
