/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.CsrMatrix;
import java.util.Random;

/** Designs of workers and firms. */
public final class Panels {

  private Panels() {}

  /**
   * Each worker in each year at a firm; one in five moves a year, to any firm. Columns: a
   * covariate, workers, firms but the first.
   */
  public static CsrMatrix anywhere(int workers, int firms, int years, Random random) {
    int rows = workers * years;
    int[] start = new int[rows + 1];
    int[] column = new int[3 * rows];
    double[] value = new double[3 * rows];
    int at = 0;
    for (int i = 0; i < rows; i++) {
      int worker = i / years;
      boolean stays = i % years != 0 && random.nextInt(5) != 0;
      int firm =
          stays && column[at - 1] > workers ? column[at - 1] - workers : random.nextInt(firms);
      value[at] = random.nextGaussian();
      column[at++] = 0;
      value[at] = 1;
      column[at++] = 1 + worker;
      if (firm > 0) {
        value[at] = 1;
        column[at++] = workers + firm;
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(rows, workers + firms, start, column, value);
  }
}
