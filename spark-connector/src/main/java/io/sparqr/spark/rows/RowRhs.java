/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

/**
 * Right-hand sides of {@link ParsedRows} times sqrt(weight), in the chunks of these: 8 bytes a row
 * and right-hand side.
 */
public final class RowRhs {

  /** By chunk of the rows, width values for each row. */
  private final double[][] chunks;

  private final int width;

  RowRhs(double[][] chunks, int width) {
    this.chunks = chunks;
    this.width = width;
  }

  /** The number of right-hand sides, the same for all rows. */
  public int width() {
    return width;
  }

  /** Those of the rows of a run, row i's from i * width on. */
  public double[] values(ParsedRows.Run run) {
    return chunks[run.chunk()];
  }

  /** Sets those of the row at a position. */
  public void set(ParsedRows.Cursor at, double[] rhs) {
    System.arraycopy(rhs, 0, values(at.run()), at.row() * width, width);
  }

  /** Moves those of the row at a position into a reader. */
  void take(ParsedRows.Cursor at, RowReader reader) {
    reader.takeRhs(values(at.run()), at.row() * width, width);
  }
}
