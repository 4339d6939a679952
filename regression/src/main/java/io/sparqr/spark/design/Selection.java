/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.design.formula.Formula;
import io.sparqr.spark.design.formula.Variable;
import io.sparqr.spark.design.level.LevelKind;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;

/**
 * The fields selected from the Dataset: label, weight and offset, the variables in order, then the
 * keys of clusters, and last the id column if there is one. For predictions label and weight are
 * constants, and there are no clusters.
 */
final class Selection {

  static final int LABEL = 0;
  static final int WEIGHT = 1;
  static final int OFFSET = 2;

  /** The field of the first variable. */
  static final int VARIABLES = 3;

  private Selection() {}

  /** The columns, as expressions over the {@link DataColumns#numbered} Dataset. */
  static List<Column> columns(
      DataColumns data,
      Formula formula,
      DesignOptions options,
      List<Slot> slots,
      boolean labelled) {
    var columns = new ArrayList<Column>();
    columns.add(labelled ? label(data, formula, options) : functions.lit(0.0));
    columns.add(
        options
            .column(Role.WEIGHT)
            .filter(weight -> labelled)
            .map(weight -> number(data, weight))
            .orElse(functions.lit(1.0)));
    columns.add(offset(data, formula, options));
    for (Slot slot : slots) {
      Column raw = data.column(slot.variable().column());
      columns.add(
          slot.factor()
              ? raw.cast(slot.levels().sql())
              : slot.vector() ? raw : slot.variable().number(data::column));
    }
    for (String key : labelled ? options.clusters() : List.<String>of()) {
      columns.add(key(data, key));
    }
    options.column(Role.ID).ifPresent(id -> columns.add(data.column(id).cast("string")));
    for (int k = 0; k < columns.size(); k++) {
      columns.set(k, columns.get(k).as("c" + k));
    }
    return columns;
  }

  /** The response. */
  static Column label(DataColumns data, Formula formula, DesignOptions options) {
    return formula.response() != null
        ? formula.response().number(data::column)
        : number(data, options.label());
  }

  private static Column offset(DataColumns data, Formula formula, DesignOptions options) {
    var all = new ArrayList<Column>();
    formula.offsets().forEach(v -> all.add(v.number(data::column)));
    options.column(Role.OFFSET).ifPresent(column -> all.add(number(data, column)));
    return all.stream().reduce(Column::plus).orElse(functions.lit(0.0));
  }

  private static Column number(DataColumns data, String column) {
    return Variable.of(column).number(data::column);
  }

  /** A cluster's key as a text; NaN is missing, and -0 is 0, as for levels. */
  private static Column key(DataColumns data, String column) {
    Column key = data.column(column);
    if (LevelKind.of(data.field(column).dataType()) == LevelKind.NUMBER) {
      Column number = key.cast("double");
      key = functions.when(functions.not(functions.isnan(number)), number.plus(0.0));
    }
    return key.cast("string");
  }
}
