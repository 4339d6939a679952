/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.campaign.Family.Kind;
import io.sparqr.sparse.CsrMatrix;
import java.util.List;
import java.util.Random;

/** Families of numbers near the limits of doubles, from 4.9e-324 to 2^1000 and beyond. */
final class ExtremeFamilies {

  private ExtremeFamilies() {}

  static List<Family> all() {
    return List.of(
        new Family("scaled-columns", Kind.EXTREME, r -> scaled(r, true, false, 1000)),
        new Family("scaled-rows", Kind.GRADED, r -> scaled(r, false, true, 1000)),
        new Family("scaled-both", Kind.GRADED, r -> scaled(r, true, true, 500)),
        new Family("scaled-all", Kind.EXTREME, ExtremeFamilies::all));
  }

  private static CsrMatrix base(Random random) {
    List<Family> gap = GapFamilies.all();
    return gap.get(random.nextInt(gap.size())).matrix().apply(random);
  }

  /** Rows or columns times powers of two; entries below the least double vanish. */
  private static CsrMatrix scaled(Random random, boolean columns, boolean rows, int spread) {
    CsrMatrix a = base(random);
    int most = 1 + random.nextInt(spread);
    // down to the least doubles
    int least = most > 900 ? -most - 74 : -most;
    int[] column = random.ints(a.columns(), least, most + 1).toArray();
    int[] row = random.ints(a.rows(), least, most + 1).toArray();
    double[] values = a.values().clone();
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        int e = (columns ? column[a.columnIndex()[k]] : 0) + (rows ? row[i] : 0);
        values[k] = Math.scalb(values[k], e);
      }
    }
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), values);
  }

  /** All entries times one power of two, down to where few bits are left. */
  private static CsrMatrix all(Random random) {
    CsrMatrix a = base(random);
    int e = random.nextBoolean() ? -1074 + random.nextInt(120) : random.nextInt(2000) - 1000;
    double[] values = a.values().clone();
    for (int k = 0; k < values.length; k++) {
      values[k] = Math.scalb(values[k], e);
    }
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), values);
  }
}
