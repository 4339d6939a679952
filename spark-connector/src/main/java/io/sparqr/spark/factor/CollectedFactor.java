/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.FactorChunk;
import io.sparqr.spark.wire.Frame;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.TreeMap;
import org.apache.spark.api.java.JavaSparkContext;

/** R collected to the driver, if half of its heap can hold it. */
public final class CollectedFactor {

  /** Peak bytes per entry: 8 as received, 12 by rows, 12 in the matrix. */
  private static final long ENTRY_BYTES = 32;

  /** Bytes per row besides its entries: three arrays, an object, a node of the tree. */
  private static final long ROW_BYTES = 200;

  /** Fraction of the heap that it may take, as 1 / part. */
  private static final long HEAP_PART = 2;

  private final SolvePlan plan;
  private final TreeMap<Integer, Row> rows = new TreeMap<>();

  private record Row(int[] position, double[] value, double[] rhs) {}

  private CollectedFactor(SolvePlan plan) {
    this.plan = plan;
  }

  /**
   * Rejects an R that takes more than half of the driver's heap.
   *
   * @param entries number of stored values of R
   * @param heap size of the heap in bytes
   * @throws InsufficientMemoryException if it is too large
   */
  public static void requireRoom(long entries, long rows, long heap) {
    long bytes = ENTRY_BYTES * entries + ROW_BYTES * rows;
    long most = heap / HEAP_PART;
    if (bytes > most || entries > Integer.MAX_VALUE - 16) {
      throw new InsufficientMemoryException(
          ("R has %,d entries in %,d rows and takes %,d MB of the driver to be collected, which gives"
                  + " half of its heap, %,d MB, and at most 2^31 entries: more spark.driver.memory,"
                  + " or use the factorization where it is (solve, standardErrors, inverseTimes)")
              .formatted(entries, rows, bytes >> 20, most >> 20),
          bytes,
          most);
    }
  }

  /** All rows of R in position order; callers must call {@link #requireRoom} first. */
  public static RFactor collect(
      JavaSparkContext context, SolvePlan plan, SingletonRows singletons, FactorLevels levels) {
    var all = new CollectedFactor(plan);
    all.addSingletons(singletons);
    for (int l = 0; l < levels.count(); l++) {
      var frames =
          JobScope.run(
              context,
              "R to the driver, level " + (l + 1) + " of " + levels.count(),
              levels.frames(l, Frame.Kind.FACTOR)::collect);
      frames.forEach(f -> all.addChunk(FactorChunk.open(f)));
    }
    return all.factor();
  }

  private void addSingletons(SingletonRows r) {
    for (int p = 0; p < r.count(); p++) {
      int from = r.rowStart()[p];
      int to = r.rowStart()[p + 1];
      rows.put(
          p,
          new Row(
              Arrays.copyOfRange(r.position(), from, to),
              Arrays.copyOfRange(r.value(), from, to),
              Arrays.copyOfRange(r.rhs(), p * r.rhsCount(), (p + 1) * r.rhsCount())));
    }
  }

  private void addChunk(FactorChunk chunk) {
    SymbolicAnalysis a = plan.analysis();
    for (int s = 0; s < chunk.segments(); s++) {
      FactorChunk.Segment segment = chunk.segment(s);
      double[] row = new double[segment.fn()];
      for (int i = 0; i < segment.rows(); i++) {
        int pivot = segment.livePivot(i);
        segment.row(i, row);
        int[] position = new int[segment.fn() - pivot];
        for (int k = pivot; k < segment.fn(); k++) {
          position[k - pivot] = a.column(segment.front(), k);
        }
        double[] rhs = new double[chunk.rhsCount()];
        for (int k = 0; k < rhs.length; k++) {
          rhs[k] = segment.rhs(i, k);
        }
        rows.put(position[0], new Row(position, Arrays.copyOfRange(row, pivot, row.length), rhs));
      }
    }
  }

  private RFactor factor() {
    int n = plan.analysis().columns();
    int entries = Math.toIntExact(rows.values().stream().mapToLong(r -> r.position.length).sum());
    int[] start = new int[rows.size() + 1];
    int[] index = new int[entries];
    double[] value = new double[entries];
    int width = plan.numbers().rhsCount();
    double[] rhs = new double[rows.size() * width];
    int i = 0;
    for (Row r : rows.values()) {
      System.arraycopy(r.position, 0, index, start[i], r.position.length);
      System.arraycopy(r.value, 0, value, start[i], r.value.length);
      System.arraycopy(r.rhs, 0, rhs, i * width, width);
      start[i + 1] = start[i] + r.position.length;
      i++;
    }
    double[] scale = new double[n];
    for (int j = 0; j < n; j++) {
      scale[j] = plan.columnScale(j);
    }
    var matrix = new CsrMatrix(rows.size(), n, start, index, value);
    return new RFactor(matrix, plan.analysis().permutation(), scale, rhs);
  }
}
