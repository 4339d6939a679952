/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.DesignOptions.Role;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;

/**
 * The fields selected from the Dataset: label, weight and offset, the variables in order, then the
 * id column if there is one, then the keys of clusters. For predictions label and weight are
 * constants.
 */
final class Selection {

  static final int LABEL = 0;
  static final int WEIGHT = 1;
  static final int OFFSET = 2;

  /** The field of the first variable. */
  static final int VARIABLES = 3;

  private Selection() {}

  /** The columns without keys. */
  static List<Column> columns(
      Formula formula, DesignOptions options, List<Slot> slots, boolean labelled) {
    return columns(formula, options, slots, labelled, List.of());
  }

  /**
   * The columns.
   *
   * @param keys columns of clusters
   */
  static List<Column> columns(
      Formula formula,
      DesignOptions options,
      List<Slot> slots,
      boolean labelled,
      List<String> keys) {
    var columns = new ArrayList<Column>();
    columns.add(labelled ? label(formula, options) : functions.lit(0.0));
    String weight = options.column(Role.WEIGHT);
    columns.add(weight.isEmpty() || !labelled ? functions.lit(1.0) : number(weight));
    columns.add(offset(formula, options));
    for (Slot slot : slots) {
      Column raw = functions.col(Names.reference(slot.variable().column()));
      columns.add(
          slot.factor()
              ? raw.cast(slot.kind().sql())
              : slot.vector() ? raw : slot.variable().number());
    }
    String id = options.column(Role.ID);
    if (!id.isEmpty()) {
      columns.add(functions.col(Names.reference(id)).cast("string"));
    }
    for (String key : keys) {
      columns.add(functions.col(Names.reference(key)).cast("string"));
    }
    for (int k = 0; k < columns.size(); k++) {
      columns.set(k, columns.get(k).as("c" + k));
    }
    return columns;
  }

  /** The response. */
  static Column label(Formula formula, DesignOptions options) {
    return formula.response() != null
        ? formula.response().number()
        : number(options.column(Role.LABEL));
  }

  private static Column offset(Formula formula, DesignOptions options) {
    var all = new ArrayList<Column>(formula.offsets().stream().map(Variable::number).toList());
    if (!options.column(Role.OFFSET).isEmpty()) {
      all.add(number(options.column(Role.OFFSET)));
    }
    return all.stream().reduce(Column::plus).orElse(functions.lit(0.0));
  }

  private static Column number(String column) {
    return Variable.of(column).number();
  }

  /** The rows in Spark's internal representation, without a copy. */
  static JavaRDD<InternalRow> rows(Dataset<Row> selected) {
    var classic = (org.apache.spark.sql.classic.Dataset<Row>) selected;
    return classic.queryExecution().toRdd().toJavaRDD();
  }

  static DataType[] types(Dataset<Row> selected) {
    var fields = selected.schema().fields();
    var types = new DataType[fields.length];
    for (int k = 0; k < fields.length; k++) {
      types[k] = fields[k].dataType();
    }
    return types;
  }
}
