/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.sparse.CsrMatrix;
import java.io.Serializable;
import org.apache.spark.broadcast.Broadcast;

/** The source of the rows' right-hand sides. */
public final class Labels implements Serializable {

  private static final long serialVersionUID = 1;

  /** One right-hand side of zeros, for rows factorized before any is known. */
  public static final Labels ZERO = new Labels(false, null);

  /** {@link DefaultRightHandSide}. */
  public static final Labels DEFAULT = new Labels(true, null);

  private final boolean byDefault;
  private final Broadcast<DenseMatrix> given;

  private Labels(boolean byDefault, Broadcast<DenseMatrix> given) {
    this.byDefault = byDefault;
    this.given = given;
  }

  /** Given right-hand sides, m x k. */
  static Labels of(Broadcast<DenseMatrix> b) {
    return new Labels(false, b);
  }

  /** The labels of consecutive rows, m x k. */
  DenseMatrix of(CsrMatrix rows, long first) {
    int m = rows.rows();
    if (given != null) {
      return of(first, m);
    }
    double[] b = new double[m];
    for (int i = 0; i < m && byDefault; i++) {
      b[i] =
          DefaultRightHandSide.label(
              first + i, rows.values(), rows.rowStart()[i], rows.rowStart()[i + 1]);
    }
    return new DenseMatrix(m, 1, b);
  }

  /** The given labels of rows [first, first + m). */
  DenseMatrix of(long first, int m) {
    DenseMatrix b = given.value();
    double[] part = new double[m * b.columns()];
    for (int k = 0; k < b.columns(); k++) {
      System.arraycopy(b.values(), (int) first + k * b.rows(), part, k * m, m);
    }
    return new DenseMatrix(m, b.columns(), part);
  }
}
