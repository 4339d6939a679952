/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.design.formula.Formula;
import io.sparqr.spark.design.level.Factor;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * How a row of data becomes a row of the design: its variables, the levels of its factors, the
 * columns of its terms. Immutable.
 */
final class Coding implements Serializable {

  private static final long serialVersionUID = 1;

  private final DesignOptions options;
  private final Formula formula;
  private final List<Slot> slots;
  private final Factor[] factors;
  private final Block[] blocks;
  private final boolean intercept;
  private final int columns;

  Coding(
      DesignOptions options,
      Formula formula,
      List<Slot> slots,
      Factor[] factors,
      Block[] blocks,
      boolean intercept) {
    this.options = options;
    this.formula = formula;
    this.slots = List.copyOf(slots);
    this.factors = factors;
    this.intercept = intercept;
    this.blocks = new Block[blocks.length];
    long at = 0;
    for (int b = 0; b < blocks.length; b++) {
      this.blocks[b] = blocks[b].at(Math.toIntExact(at));
      at += this.blocks[b].width();
      if (at >= Integer.MAX_VALUE) {
        throw new io.sparqr.error.IndexOverflowException(
            "the design has more than 2^31 - 2 columns", "columns", at);
      }
    }
    columns = (int) at + (intercept ? 1 : 0);
  }

  /** A copy with other options. */
  Coding with(DesignOptions changed) {
    return new Coding(changed, formula, slots, factors, blocks, intercept);
  }

  DesignOptions options() {
    return options;
  }

  Formula formula() {
    return formula;
  }

  List<Slot> slots() {
    return slots;
  }

  Factor[] factors() {
    return factors;
  }

  Block[] blocks() {
    return blocks;
  }

  /** Number of columns of the design, the intercept included. */
  int columns() {
    return columns;
  }

  /** Whether the last column is a column of ones. */
  boolean hasIntercept() {
    return intercept;
  }

  /** The column of ones; -1: there is none. */
  int interceptColumn() {
    return intercept ? columns - 1 : -1;
  }

  /** The combinations whose levels the rows have as keys behind those of their clusters. */
  List<Block> keyed() {
    return options.clusters().isEmpty()
        ? List.of()
        : Arrays.stream(blocks)
            .filter(Block::hidesLevels)
            .map(b -> b.withAllLevels(factors))
            .toList();
  }

  /** The name of the response. */
  String response() {
    return formula.response() != null ? formula.response().name() : options.label();
  }

  /**
   * The name in error messages of each field of a {@link Selection}; empty for a field that is not
   * in the data.
   */
  String[] fieldNames() {
    Optional<String> id = options.column(Role.ID);
    int variables = Selection.VARIABLES + slots.size();
    var names = new String[variables + options.clusters().size() + (id.isPresent() ? 1 : 0)];
    names[Selection.LABEL] = response();
    names[Selection.WEIGHT] = options.column(Role.WEIGHT).orElse("");
    boolean offset = !formula.offsets().isEmpty() || options.column(Role.OFFSET).isPresent();
    names[Selection.OFFSET] = offset ? "offset" : "";
    for (int v = 0; v < slots.size(); v++) {
      names[Selection.VARIABLES + v] = slots.get(v).variable().name();
    }
    for (int k = 0; k < options.clusters().size(); k++) {
      names[variables + k] = options.clusters().get(k);
    }
    id.ifPresent(column -> names[names.length - 1] = column);
    return names;
  }

  Dataset<Row> selected(Dataset<Row> data, boolean labelled) {
    var there = DataColumns.of(data);
    Column[] columns =
        Selection.columns(there, formula, options, slots, labelled).toArray(new Column[0]);
    return there.numbered(data).select(columns);
  }
}
