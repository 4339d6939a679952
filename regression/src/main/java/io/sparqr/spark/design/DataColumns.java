/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A Dataset's columns by their exact names. Spark by default takes {@code x} and {@code X} for the
 * same name, and refuses to choose between them; so expressions are written over the {@link
 * #numbered} Dataset, in which each column has a name of its own.
 *
 * @param schema of the Dataset as the caller has it
 */
record DataColumns(StructType schema) {

  static DataColumns of(Dataset<Row> data) {
    return new DataColumns(data.schema());
  }

  /** The Dataset with the names by which {@link #column} refers to its columns. */
  Dataset<Row> numbered(Dataset<Row> data) {
    var names = new String[schema.length()];
    for (int k = 0; k < names.length; k++) {
      names[k] = number(k);
    }
    return data.toDF(names);
  }

  /** All columns of the numbered Dataset under their own names again. */
  List<Column> all() {
    var columns = new ArrayList<Column>();
    for (int k = 0; k < schema.length(); k++) {
      columns.add(functions.col(number(k)).as(schema.fields()[k].name()));
    }
    return columns;
  }

  /**
   * A column of the numbered Dataset.
   *
   * @throws IllegalArgumentException if there is no column of this name, or more than one
   */
  Column column(String name) {
    return functions.col(number(index(name)));
  }

  /**
   * A column's field.
   *
   * @throws IllegalArgumentException if there is no column of this name, or more than one
   */
  StructField field(String name) {
    return schema.fields()[index(name)];
  }

  boolean has(String name) {
    return schema.getFieldIndex(name).isDefined();
  }

  private int index(String name) {
    int found = -1;
    StructField[] fields = schema.fields();
    for (int k = 0; k < fields.length; k++) {
      if (fields[k].name().equals(name)) {
        if (found >= 0) {
          throw new IllegalArgumentException("more than one column has the name " + name);
        }
        found = k;
      }
    }
    if (found < 0) {
      throw new IllegalArgumentException(
          "no column " + name + "; there are " + String.join(", ", schema.fieldNames()));
    }
    return found;
  }

  private static String number(int k) {
    return "sparqr_" + k;
  }
}
