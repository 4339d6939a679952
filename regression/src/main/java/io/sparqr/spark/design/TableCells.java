/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.level.LevelKind;
import io.sparqr.spark.internals.TableRow;
import org.apache.spark.unsafe.types.UTF8String;

/** A row of a table as Spark has it, until the next one is read. */
final class TableCells implements Cells {

  @SuppressWarnings("NullAway.Init") // set by at()
  private TableRow row;

  TableCells at(TableRow next) {
    row = next;
    return this;
  }

  @Override
  public int fields() {
    return row.fields();
  }

  @Override
  public boolean missing(int field, LevelKind kind) {
    return row.isNull(field) || kind == LevelKind.NUMBER && Double.isNaN(row.number(field));
  }

  @Override
  public double number(int field) {
    return row.number(field);
  }

  @Override
  public long key(int field, LevelKind kind) {
    return switch (kind) {
      case BOOLEAN -> row.yes(field) ? 1 : 0;
      case NUMBER -> LevelKind.key(row.number(field));
      default -> row.integer(field);
    };
  }

  @Override
  public UTF8String text(int field) {
    return row.text(field);
  }

  @Override
  public void vector(int field, VectorEntries into) {
    row.vector(field, into::set);
  }

  @Override
  public String shown(int field) {
    return row.shown(field);
  }
}
