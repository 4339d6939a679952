/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/** A row of {@link TableRows}, by the positions of its values. */
public final class TableRow {

  /** Number of fields of a vector of Spark ML as it is stored. */
  private static final int VECTOR_FIELDS = 4;

  private final DataType[] types;

  @SuppressWarnings("NullAway.Init") // set by at()
  private InternalRow row;

  TableRow(DataType[] types) {
    this.types = types;
  }

  TableRow at(InternalRow next) {
    row = next;
    return this;
  }

  /** Reads a vector of Spark ML from its row. */
  @FunctionalInterface
  public interface VectorReader {
    /**
     * Takes it.
     *
     * @param size number of components
     * @param indices of the values, ascending, or none where all components are there
     */
    void take(int size, int @Nullable [] indices, double[] values);
  }

  /** The number of fields of the row. */
  public int fields() {
    return row.numFields();
  }

  /** Whether the value is null. */
  public boolean isNull(int field) {
    return row.isNullAt(field);
  }

  /** The value of a field of type double. */
  public double number(int field) {
    return row.getDouble(field);
  }

  /** The value of a field of type boolean. */
  public boolean yes(int field) {
    return row.getBoolean(field);
  }

  /** The value of a field of type long. */
  public long integer(int field) {
    return row.getLong(field);
  }

  /** A string, whose bytes Spark may overwrite with the next row. */
  public UTF8String text(int field) {
    return row.getUTF8String(field);
  }

  /** Reads a vector of Spark ML. */
  public void vector(int field, VectorReader into) {
    InternalRow v = row.getStruct(field, VECTOR_FIELDS);
    double[] values = v.getArray(3).toDoubleArray();
    if (v.getByte(0) == 0) {
      into.take(v.getInt(1), v.getArray(2).toIntArray(), values);
    } else {
      into.take(values.length, null, values);
    }
  }

  /** The value for a message. */
  public String shown(int field) {
    return String.valueOf(row.isNullAt(field) ? null : row.get(field, types[field]));
  }
}
