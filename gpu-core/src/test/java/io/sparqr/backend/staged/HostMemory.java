/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.executor.RoundExecutor.RowSink;
import io.sparqr.backend.staged.executor.RoundExecutor.StageInput;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The memory of a task on the host while an executor works: places for faults. */
public final class HostMemory {

  /** The name of Q'b in the arena. */
  public static final String RIGHT = "Q'b in fronts";

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

  /** A value of R or Q'b that has arrived; null: there is none. */
  public static Place ofR(RowSink sink, Random random) {
    List<double[]> arrays = new ArrayList<>();
    for (FrontFactor f : ((StageRows) sink).done.factor) {
      if (f != null) {
        arrays.add(f.values().array());
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

  /** The value at a place of the arena. */
  public static String inArena(StageProgram p, long at) {
    for (int f = 0; f < p.fronts(); f++) {
      FrontDescriptor d = p.descriptor(f);
      if (at >= d.data() && at < d.data() + d.doubles()) {
        long i = (at - d.data()) / d.ld();
        long j = (at - d.data()) % d.ld();
        if (i >= d.fm() || j >= d.fn() + d.rhs()) {
          return "padding";
        }
        return j >= d.fn()
            ? RIGHT
            : i > j ? "A, V below the diagonal" : i < d.fp() ? "A, R" : "A, C";
      }
    }
    return "padding";
  }

  /** The front, row and column of an entry of the arena. */
  public static String place(StageProgram p, long at) {
    for (int f = 0; f < p.fronts(); f++) {
      FrontDescriptor d = p.descriptor(f);
      if (at >= d.data() && at < d.data() + d.doubles()) {
        return "front %d of %d (%d x (%d + %d), %d pivots, %d rows to front %d, %s), row %d, column %d"
            .formatted(
                f,
                p.fronts(),
                d.fm(),
                d.fn(),
                d.rhs(),
                d.fp(),
                d.cm(),
                d.parent(),
                d.small() ? "small" : "tiled",
                (at - d.data()) / d.ld(),
                (at - d.data()) % d.ld());
      }
    }
    return "padding";
  }

  /** A word of a plan's array and its new value, which is within bounds. */
  public record Word(int index, int value) {}

  /** Another entry of a map; null: there is none. */
  public static Word map(StageProgram p, boolean row, Random random) {
    var with = new ArrayList<FrontDescriptor>();
    for (int f = 0; f < p.fronts() + p.blocks(); f++) {
      FrontDescriptor d = p.descriptor(f);
      if (d.parent() >= 0 && d.cm() > 0) {
        with.add(d);
      }
    }
    if (with.isEmpty()) {
      return null;
    }
    FrontDescriptor d = with.get(random.nextInt(with.size()));
    FrontDescriptor parent = p.descriptor(d.parent());
    // The descriptor of a block from outside has its own columns alone.
    int entries = row ? d.cm() : d.cn() + d.rhs();
    int limit = row ? parent.fm() : parent.fn() + parent.rhs();
    int at = (int) (row ? d.rowMap() : d.columnMap()) + random.nextInt(entries);
    return limit < 2 ? null : new Word(at, other(p.maps()[at], limit, random));
  }

  /** Another place, in its row, for an S entry of a column; null: there is none. */
  public static Word place(StageProgram p, Random random) {
    int[] places = p.sIndex();
    int e = places.length == 0 ? -1 : random.nextInt(places.length);
    for (int f = 0; f < p.fronts() && e >= 0; f++) {
      FrontDescriptor d = p.descriptor(f);
      if (e >= d.sFrom() && e < d.sTo()) {
        int row = places[e] / d.ld();
        int column = places[e] % d.ld();
        return column >= d.fn() || d.fn() < 2
            ? null
            : new Word(e, row * d.ld() + other(column, d.fn(), random));
      }
    }
    return null;
  }

  private static int other(int was, int limit, Random random) {
    return (was + 1 + random.nextInt(limit - 1)) % limit;
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
