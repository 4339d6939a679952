/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.python.PythonSupport;
import java.util.List;
import java.util.UUID;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The variables of a formula, as a transformer of the data: {@code sparqr.feols} in Python uses it
 * to parse its formula over Spark Connect. It does not read the rows; a dot in the formula stands
 * for their columns. The result is {@link PythonSupport#variables} as a table of role, name,
 * function, column.
 */
public final class FormulaVariables extends Transformer {

  private static final long serialVersionUID = 1;

  private static final StructType SCHEMA =
      new StructType()
          .add("role", DataTypes.StringType, false)
          .add("name", DataTypes.StringType, false)
          .add("function", DataTypes.StringType, false)
          .add("column", DataTypes.StringType, false);

  private final String uid;
  private final Param<String> formula;

  /** An instance with a random uid. */
  public FormulaVariables() {
    this("sparqrFormula_" + UUID.randomUUID().toString().substring(24));
  }

  /** An instance with a given uid. */
  public FormulaVariables(String uid) {
    this.uid = uid;
    formula = new Param<>(uid, "formula", "R's formula");
  }

  @Override
  public String uid() {
    return uid;
  }

  /** R's formula; no default. */
  public Param<String> formula() {
    return formula;
  }

  /**
   * Reads the formula.
   *
   * @throws IllegalArgumentException if it cannot be read
   */
  @Override
  public Dataset<Row> transform(Dataset<?> data) {
    List<Row> rows =
        PythonSupport.variables(getOrDefault(formula), List.of(data.columns())).stream()
            .map(v -> RowFactory.create(v.toArray()))
            .toList();
    return data.sparkSession().createDataFrame(rows, SCHEMA);
  }

  @Override
  public StructType transformSchema(StructType schema) {
    return SCHEMA;
  }

  @Override
  public FormulaVariables copy(ParamMap extra) {
    return this.<FormulaVariables>defaultCopy(extra);
  }
}
