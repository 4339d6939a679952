/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.level.LevelKind;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/** A row in Spark's internal representation, which Spark may overwrite with the next row. */
final class InternalCells implements Cells {

  /** Number of fields of a stored vector. */
  private static final int VECTOR_FIELDS = 4;

  private final DataType[] types;
  private InternalRow row;

  InternalCells(DataType[] types) {
    this.types = types;
  }

  InternalCells at(InternalRow next) {
    row = next;
    return this;
  }

  @Override
  public int fields() {
    return row.numFields();
  }

  @Override
  public boolean missing(int field, LevelKind kind) {
    return row.isNullAt(field) || kind == LevelKind.NUMBER && Double.isNaN(row.getDouble(field));
  }

  @Override
  public double number(int field) {
    return row.getDouble(field);
  }

  @Override
  public long key(int field, LevelKind kind) {
    return switch (kind) {
      case BOOLEAN -> row.getBoolean(field) ? 1 : 0;
      case NUMBER -> LevelKind.key(row.getDouble(field));
      default -> row.getLong(field);
    };
  }

  @Override
  public UTF8String text(int field) {
    return row.getUTF8String(field);
  }

  @Override
  public void vector(int field, VectorEntries into) {
    InternalRow v = row.getStruct(field, VECTOR_FIELDS);
    double[] values = v.getArray(3).toDoubleArray();
    if (v.getByte(0) == 0) {
      into.set(v.getInt(1), v.getArray(2).toIntArray(), values);
    } else {
      into.set(values.length, null, values);
    }
  }

  @Override
  public String shown(int field) {
    Object value = row.isNullAt(field) ? null : row.get(field, types[field]);
    return String.valueOf(value);
  }
}
