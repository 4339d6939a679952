/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.sparse.CsrMatrix;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The files in the resources' folder {@code formats}, which {@code formats.py} there has written.
 */
final class FormatFiles {

  private FormatFiles() {}

  static byte[] bytes(String name) throws IOException {
    try (InputStream in = FormatFiles.class.getResourceAsStream("formats/" + name)) {
      return in.readAllBytes();
    }
  }

  static CsrMatrix matrix(String name, byte[] bytes) throws IOException {
    InputStream in = new ByteArrayInputStream(bytes);
    if (name.endsWith(".npy") || name.endsWith(".npz")) {
      return Numpy.readMatrix(in, name);
    }
    if (name.endsWith(".mat")) {
      return Matlab.readMatrix(in, name, null);
    }
    return name.endsWith(".mtx")
        ? MatrixMarket.readMatrix(in, name)
        : RutherfordBoeing.readMatrix(in, name);
  }

  static DenseMatrix dense(String name, byte[] bytes) throws IOException {
    InputStream in = new ByteArrayInputStream(bytes);
    if (name.endsWith(".npy") || name.endsWith(".npz")) {
      return Numpy.readDense(in, name);
    }
    return name.endsWith(".mat")
        ? Matlab.readDense(in, name, null)
        : TextColumns.readDense(in, name);
  }

  /** The entries that NumPy says a matrix has, as lines "row column value". */
  static List<String> expected(String name) throws IOException {
    return new String(bytes(name + ".txt"), StandardCharsets.UTF_8).lines().toList();
  }

  /** A matrix's nonzeros in that form. */
  static List<String> entries(CsrMatrix a) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        if (a.values()[k] != 0) {
          lines.add(i + " " + a.columnIndex()[k] + " " + a.values()[k]);
        }
      }
    }
    lines.add(0, a.rows() + " " + a.columns() + " " + lines.size());
    return lines;
  }
}
