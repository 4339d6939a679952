/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.level.LevelKind;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Row;
import org.apache.spark.unsafe.types.UTF8String;

/** A row as passed to a user-defined function. */
final class RowCells implements Cells {

  private final Row row;

  RowCells(Row row) {
    this.row = row;
  }

  @Override
  public int fields() {
    return row.size();
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
    return UTF8String.fromString(row.getString(field));
  }

  @Override
  public void vector(int field, VectorEntries into) {
    Vector v = row.getAs(field);
    if (v instanceof SparseVector s) {
      into.set(s.size(), s.indices(), s.values());
    } else {
      into.set(v.size(), null, v.toArray());
    }
  }

  @Override
  public String shown(int field) {
    return String.valueOf(row.get(field));
  }
}
