/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;

/**
 * The readable view of a front's descriptor ({@link TaskLayout}), or of an input block's: then data
 * and dataRhs are places in the input buffer, fm = cm, fn = cn, fp = 0.
 *
 * @param places where its entries and maps are
 * @param shape its sizes
 * @param parent receiving front of the stage, or -1
 * @param id front number of the analysis
 * @param drop place of the front's drop record after the counts, in words of 8 bytes; 0: its dead
 *     columns are not dropped here
 */
public record FrontDescriptor(Places places, Shape shape, int parent, int id, int drop) {

  /**
   * Where a front's entries and maps are.
   *
   * @param data place of the first entry in the arena, in doubles
   * @param dataRhs block: place of its right-hand sides
   * @param sFrom first S entry
   * @param sTo end of the S entries
   * @param rowMap place of Rimap in the stage's maps
   * @param columnMap place of Rjmap in the stage's maps
   */
  public record Places(long data, long dataRhs, long sFrom, long sTo, long rowMap, long columnMap) {

    /** The places of a front that has no entries of A. */
    public static final Places NONE = new Places(0, 0, 0, 0, 0, 0);
  }

  /**
   * A front's sizes.
   *
   * @param ld leading dimension
   * @param fm rows
   * @param fn columns without right-hand sides
   * @param fp pivot columns
   * @param rhs right-hand sides
   * @param cm rows of the contribution block
   * @param rowTiles 0 for a small front
   * @param columnTiles tiles that cover fn + rhs columns
   */
  public record Shape(
      int ld, int fm, int fn, int fp, int rhs, int cm, int rowTiles, int columnTiles) {}

  /** {@link Places#data}. */
  public long data() {
    return places.data;
  }

  /** {@link Places#dataRhs}. */
  public long dataRhs() {
    return places.dataRhs;
  }

  /** {@link Places#sFrom}. */
  public long sFrom() {
    return places.sFrom;
  }

  /** {@link Places#sTo}. */
  public long sTo() {
    return places.sTo;
  }

  /** {@link Places#rowMap}. */
  public long rowMap() {
    return places.rowMap;
  }

  /** {@link Places#columnMap}. */
  public long columnMap() {
    return places.columnMap;
  }

  /** {@link Shape#ld}. */
  public int ld() {
    return shape.ld;
  }

  /** {@link Shape#fm}. */
  public int fm() {
    return shape.fm;
  }

  /** {@link Shape#fn}. */
  public int fn() {
    return shape.fn;
  }

  /** Values of the first rows of an upper trapezoid of so many columns, row i without i of them. */
  public static long packedValues(long rows, int columns) {
    return rows * columns - rows * (rows - 1) / 2;
  }

  /** Values of the front's first rows as they lie in the output buffer. */
  public long packedValues(long rows) {
    return packedValues(rows, shape.fn);
  }

  /** {@link Shape#fp}. */
  public int fp() {
    return shape.fp;
  }

  /** {@link Shape#rhs}. */
  public int rhs() {
    return shape.rhs;
  }

  /** {@link Shape#cm}. */
  public int cm() {
    return shape.cm;
  }

  /** {@link Shape#rowTiles}. */
  public int rowTiles() {
    return shape.rowTiles;
  }

  /** {@link Shape#columnTiles}. */
  public int columnTiles() {
    return shape.columnTiles;
  }

  /** cn, the tail columns. */
  public int cn() {
    return shape.fn - shape.fp;
  }

  /** Whether one thread block factors the whole front. */
  public boolean small() {
    return shape.rowTiles == 0;
  }

  /** Doubles of the front in the arena. */
  public long doubles() {
    return (long) shape.ld * (small() ? shape.fm : shape.rowTiles * TaskLayout.TILE);
  }

  /** Rows of R and of the block together: min(fm, fn). */
  public int trapezoidRows() {
    return Math.min(shape.fm, shape.fn);
  }

  /** Doubles of the trapezoid and its right-hand sides, packed. */
  public long trapezoidDoubles() {
    return packedDoubles(0, trapezoidRows());
  }

  /** Doubles of rows [from, to) of the trapezoid, packed: row i from column i on. */
  public long packedDoubles(long from, long to) {
    return (to - from) * (shape.fn + shape.rhs) - (to * (to - 1) - from * (from - 1)) / 2;
  }

  /** Writes descriptor {@code index} of an array of them. */
  public void encode(ByteBuffer b, int index) {
    TaskLayout.requireLittleEndian(b);
    int at = Math.multiplyExact(index, TaskLayout.FRONT_BYTES);
    b.putLong(at + TaskLayout.FRONT_DATA, places.data);
    b.putLong(at + TaskLayout.FRONT_DATA_RHS, places.dataRhs);
    b.putLong(at + TaskLayout.FRONT_S_FROM, places.sFrom);
    b.putLong(at + TaskLayout.FRONT_S_TO, places.sTo);
    b.putLong(at + TaskLayout.FRONT_ROW_MAP, places.rowMap);
    b.putLong(at + TaskLayout.FRONT_COLUMN_MAP, places.columnMap);
    b.putInt(at + TaskLayout.FRONT_LD, shape.ld);
    b.putInt(at + TaskLayout.FRONT_FM, shape.fm);
    b.putInt(at + TaskLayout.FRONT_FN, shape.fn);
    b.putInt(at + TaskLayout.FRONT_FP, shape.fp);
    b.putInt(at + TaskLayout.FRONT_RHS, shape.rhs);
    b.putInt(at + TaskLayout.FRONT_CM, shape.cm);
    b.putInt(at + TaskLayout.FRONT_ROW_TILES, shape.rowTiles);
    b.putInt(at + TaskLayout.FRONT_COLUMN_TILES, shape.columnTiles);
    b.putInt(at + TaskLayout.FRONT_PARENT, parent);
    b.putInt(at + TaskLayout.FRONT_ID, id);
    b.putInt(at + TaskLayout.FRONT_DROP, drop);
  }

  /** Reads descriptor {@code index} of an array of them. */
  public static FrontDescriptor decode(ByteBuffer b, int index) {
    TaskLayout.requireLittleEndian(b);
    int at = Math.multiplyExact(index, TaskLayout.FRONT_BYTES);
    return new FrontDescriptor(
        new Places(
            b.getLong(at + TaskLayout.FRONT_DATA),
            b.getLong(at + TaskLayout.FRONT_DATA_RHS),
            b.getLong(at + TaskLayout.FRONT_S_FROM),
            b.getLong(at + TaskLayout.FRONT_S_TO),
            b.getLong(at + TaskLayout.FRONT_ROW_MAP),
            b.getLong(at + TaskLayout.FRONT_COLUMN_MAP)),
        new Shape(
            b.getInt(at + TaskLayout.FRONT_LD),
            b.getInt(at + TaskLayout.FRONT_FM),
            b.getInt(at + TaskLayout.FRONT_FN),
            b.getInt(at + TaskLayout.FRONT_FP),
            b.getInt(at + TaskLayout.FRONT_RHS),
            b.getInt(at + TaskLayout.FRONT_CM),
            b.getInt(at + TaskLayout.FRONT_ROW_TILES),
            b.getInt(at + TaskLayout.FRONT_COLUMN_TILES)),
        b.getInt(at + TaskLayout.FRONT_PARENT),
        b.getInt(at + TaskLayout.FRONT_ID),
        b.getInt(at + TaskLayout.FRONT_DROP));
  }
}
