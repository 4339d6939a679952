/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.sparse.CsrMatrix;
import java.io.Serializable;
import org.apache.spark.broadcast.Broadcast;

/** The source of the rows' right-hand sides. */
public abstract sealed class Labels implements Serializable {

  private static final long serialVersionUID = 1;

  /** One right-hand side of zeros, for rows factorized before any is known. */
  public static final Labels ZERO = new Zero();

  /** {@link DefaultRightHandSide}. */
  public static final Labels DEFAULT = new ByDefault();

  private Labels() {}

  /** The labels of consecutive rows, m x k. */
  abstract DenseMatrix of(CsrMatrix rows, long first);

  private static final class Zero extends Labels {
    private static final long serialVersionUID = 1;

    @Override
    DenseMatrix of(CsrMatrix rows, long first) {
      return new DenseMatrix(rows.rows(), 1, new double[rows.rows()]);
    }
  }

  private static final class ByDefault extends Labels {
    private static final long serialVersionUID = 1;

    @Override
    DenseMatrix of(CsrMatrix rows, long first) {
      double[] b = new double[rows.rows()];
      for (int i = 0; i < b.length; i++) {
        b[i] =
            DefaultRightHandSide.label(
                first + i, rows.values(), rows.rowStart()[i], rows.rowStart()[i + 1]);
      }
      return new DenseMatrix(b.length, 1, b);
    }
  }

  /** Given right-hand sides, m x k. */
  static final class Given extends Labels {
    private static final long serialVersionUID = 1;

    private final Broadcast<DenseMatrix> given;

    Given(Broadcast<DenseMatrix> given) {
      this.given = given;
    }

    @Override
    DenseMatrix of(CsrMatrix rows, long first) {
      return of(first, rows.rows());
    }

    /** Those of rows [first, first + m). */
    DenseMatrix of(long first, int m) {
      DenseMatrix b = given.value();
      double[] part = new double[m * b.columns()];
      for (int k = 0; k < b.columns(); k++) {
        System.arraycopy(b.values(), (int) first + k * b.rows(), part, k * m, m);
      }
      return new DenseMatrix(m, b.columns(), part);
    }
  }
}
