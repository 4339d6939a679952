/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.sparse.CsrMatrix;

/** A variable of a MATLAB file. */
sealed interface MatlabVariable {

  /** The name; a field of a structure has that one's name and a point before its own. */
  String name();

  /** What it is, whether it can be used or not. */
  Kind kind();

  /** The kinds of variables. */
  enum Kind {
    SPARSE,
    FULL,
    OTHER
  }

  /** A sparse matrix. */
  record Sparse(String name, CsrMatrix matrix) implements MatlabVariable {
    @Override
    public Kind kind() {
      return Kind.SPARSE;
    }
  }

  /** A full matrix. */
  record Full(String name, DenseMatrix matrix) implements MatlabVariable {
    @Override
    public Kind kind() {
      return Kind.FULL;
    }
  }

  /**
   * A variable that cannot be used: complex, not finite, no matrix.
   *
   * @param why the error if it is asked for
   */
  record Unusable(String name, Kind kind, RuntimeException why) implements MatlabVariable {}
}
