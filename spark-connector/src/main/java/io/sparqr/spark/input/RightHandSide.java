/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.Matlab;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.Numpy;
import io.sparqr.matrix.TextColumns;
import java.io.IOException;
import java.io.InputStream;

/**
 * Right-hand sides from a file, read by the driver. Matrix Market, NumPy and MATLAB files are
 * recognised by their content; anything else is plain text or CSV, a line for each row.
 */
public final class RightHandSide {

  private RightHandSide() {}

  /**
   * Reads a file.
   *
   * @throws io.sparqr.error.SparseQrException if it is malformed, or has NaN or infinity
   */
  public static DenseMatrix read(String name) throws IOException {
    MatrixFormat content = MatrixFormat.ofContent(MatrixFormat.head(name)).orElse(null);
    boolean named = MatrixFormat.isMatrixMarket(name);
    try (InputStream in = MatrixFormat.open(name)) {
      if (content == MatrixFormat.NUMPY) {
        return Numpy.readDense(in, name);
      }
      if (content == MatrixFormat.MATLAB) {
        return Matlab.readDense(in, name, null);
      }
      if (content == MatrixFormat.RUTHERFORD_BOEING || content == MatrixFormat.PARQUET) {
        throw new UsageException(
            name
                + ": right-hand sides are read from Matrix Market, text, CSV, NumPy and MATLAB files");
      }
      return content == MatrixFormat.MATRIX_MARKET || named
          ? MatrixMarket.readDense(in, name)
          : TextColumns.readDense(in, name);
    }
  }
}
