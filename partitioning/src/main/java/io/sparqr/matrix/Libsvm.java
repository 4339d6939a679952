/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads libsvm files, plain or gzip: one row per line, {@code label index:value index:value ...};
 * the labels are b. Blank lines and everything from {@code #} on are left out. Indices count from
 * 1; a file that has an index 0 anywhere counts from 0 throughout; {@link IndexBase} overrules.
 * They may come in any order within a line, but none twice. n is the number of columns up to the
 * greatest index. A {@code qid:number} after the label, as in ranking data, is skipped.
 */
public final class Libsvm {

  private Libsvm() {}

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be opened or read
   * @throws MatrixFormatException if it is malformed; the message names file and line
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public static LabeledMatrix read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return read(in, file.toString());
    }
  }

  /** {@link #read(Path)} from a stream, which stays open. */
  public static LabeledMatrix read(InputStream in, String source) throws IOException {
    return read(in, source, IndexBase.INFERRED);
  }

  /**
   * {@link #read(Path)} from a stream, which stays open, with a given base of the indices.
   *
   * @throws MatrixFormatException also at an index 0 of a file that counts from 1, and at an index
   *     that makes more columns than the heap can hold
   */
  public static LabeledMatrix read(InputStream in, String source, IndexBase base)
      throws IOException {
    LabeledRows rows = new LabeledRows();
    rows.addAll(new LibsvmReader(new TextScanner(in, source)));
    int columns = rows.extent().columns(base, source);
    return rows.toMatrix(columns, base.of(rows.least()), base.note(rows.least()));
  }
}
