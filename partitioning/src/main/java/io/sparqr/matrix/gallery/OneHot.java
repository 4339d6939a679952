/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;

/** The gallery's regression designs. */
final class OneHot {

  private static final int NUMERIC = 5;

  private OneHot() {}

  /**
   * m rows: 5 numeric columns uniform in [-1, 1), then for each factor one level, level l of c with
   * probability proportional to 1 / (l+1) (Zipf), as a column of ones. The first (commonest) level
   * of every factor but the first has no column: it would be a linear combination of others.
   * Columns: 5 + c1 + (c2 - 1) + (c3 - 1) + ... O(m (factors log c)).
   */
  static CsrMatrix regression(int rows, int[] levels, GalleryRandom random) {
    double[][] cumulated = new double[levels.length][];
    int[] first = new int[levels.length];
    long columns = NUMERIC;
    for (int f = 0; f < levels.length; f++) {
      cumulated[f] = cumulatedZipf(levels[f]);
      // The column of level 0, or one before the first where level 0 has none.
      first[f] = (int) (f == 0 ? columns : columns - 1);
      columns += f == 0 ? levels[f] : levels[f] - 1;
    }
    int n = Combinatorial.size(columns, "columns");
    int room = Combinatorial.size((long) rows * (NUMERIC + levels.length), "entries");
    int[] start = new int[rows + 1];
    int[] index = new int[room];
    double[] value = new double[room];
    int at = 0;
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < NUMERIC; j++) {
        index[at] = j;
        value[at++] = 2 * random.uniform() - 1;
      }
      for (int f = 0; f < levels.length; f++) {
        int level = Arrays.binarySearch(cumulated[f], random.uniform());
        // An exact hit means the next interval; a miss is -(insertion point) - 1.
        level = level >= 0 ? level + 1 : -level - 1;
        if (f == 0 || level > 0) {
          index[at] = first[f] + level;
          value[at++] = 1;
        }
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(rows, n, start, Arrays.copyOf(index, at), Arrays.copyOf(value, at));
  }

  /** size c; the probability of levels 0..l; the last entry is above any uniform number. */
  private static double[] cumulatedZipf(int count) {
    double[] sum = new double[count];
    double total = 0;
    for (int l = 0; l < count; l++) {
      total += 1.0 / (l + 1);
      sum[l] = total;
    }
    for (int l = 0; l < count; l++) {
      sum[l] /= total;
    }
    sum[count - 1] = 2;
    return sum;
  }
}
