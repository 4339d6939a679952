/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * A data table: its rows, not yet parsed, and what was read.
 *
 * @param rows the data
 * @param columns what each column is
 * @param notes on decisions that were made unasked, one line each
 */
public record Table(Dataset<Row> rows, List<TableColumn> columns, List<String> notes) {

  public Table {
    columns = List.copyOf(columns);
    notes = List.copyOf(notes);
  }

  /** A table with a schema of its own, such as Parquet's; nothing is counted. */
  public static Table of(Dataset<Row> rows) {
    List<TableColumn> columns =
        Arrays.stream(rows.schema().fields())
            .map(f -> TableColumn.of(f.name(), f.dataType().simpleString()))
            .toList();
    return new Table(rows, columns, List.of());
  }

  /**
   * What was read, in a line.
   *
   * @param most columns that are named
   */
  public String summary(int most) {
    String named =
        columns.stream().limit(most).map(TableColumn::toString).collect(Collectors.joining(", "));
    int more = columns.size() - most;
    return "columns: " + named + (more > 0 ? String.format(" and %,d more", more) : "");
  }
}
