/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.transform;
import static org.apache.spark.sql.functions.when;

import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The features column: vectors, or arrays of doubles or floats, as MLlib's estimators that take
 * arrays do. Arrays are read as dense vectors; a missing element is NaN, so that the row is refused
 * like one with NaN.
 */
final class FeatureColumn {

  private FeatureColumn() {}

  /**
   * The schema with vectors in place of arrays in this column.
   *
   * @throws IllegalArgumentException if the column is missing or has another type
   */
  static StructType vectors(StructType schema, String column) {
    DataType type = schema.apply(column).dataType();
    if (type.equals(SQLDataTypes.VectorType())) {
      return schema;
    }
    if (!isArray(type)) {
      throw new IllegalArgumentException(
          "features column %s is of type %s: a vector, array<double> or array<float> is taken"
              .formatted(column, type.simpleString()));
    }
    return replaced(schema, column, SQLDataTypes.VectorType());
  }

  /** The schema with the type that a column has in another one. */
  static StructType asIn(StructType original, StructType schema, String column) {
    return replaced(schema, column, original.apply(column).dataType());
  }

  private static StructType replaced(StructType schema, String column, DataType type) {
    return new StructType(
        Stream.of(schema.fields())
            .map(
                f ->
                    f.name().equals(column)
                        ? new StructField(column, type, f.nullable(), f.metadata())
                        : f)
            .toArray(StructField[]::new));
  }

  /** The rows with vectors in place of arrays in this column, if there are any. */
  static Dataset<Row> vectors(Dataset<?> data, String column) {
    return hasArrays(data, column) ? data.withColumn(column, vector(named(column))) : data.toDF();
  }

  /** What becomes of the rows with vectors in this column; the arrays come back in their place. */
  static Dataset<Row> through(Dataset<?> data, String column, UnaryOperator<Dataset<Row>> work) {
    if (!hasArrays(data, column)) {
      return work.apply(data.toDF());
    }
    String kept = column + "__arrays";
    Dataset<Row> rows = vectors(data.withColumn(kept, named(column)), column);
    return work.apply(rows).withColumn(column, named(kept)).drop(kept);
  }

  private static boolean hasArrays(Dataset<?> data, String column) {
    StructType schema = data.schema();
    return schema.getFieldIndex(column).isDefined() && isArray(schema.apply(column).dataType());
  }

  private static boolean isArray(DataType type) {
    return type instanceof ArrayType array
        && (array.elementType().equals(DataTypes.DoubleType)
            || array.elementType().equals(DataTypes.FloatType));
  }

  private static Column named(String column) {
    return col("`" + column.replace("`", "``") + "`");
  }

  private static Column vector(Column array) {
    Column whole = transform(array.cast("array<double>"), e -> coalesce(e, lit(Double.NaN)));
    return when(array.isNotNull(), org.apache.spark.ml.functions.array_to_vector(whole));
  }
}
