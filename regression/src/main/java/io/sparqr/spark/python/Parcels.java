/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.python;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Named numbers and texts as a table, for a client that can fetch only tables: rows of name, part,
 * text, numbers. An array of doubles is split into parts of up to 2^18 elements in order, IEEE 754,
 * little endian, so that a row stays far below the 128 MB limit of a gRPC message; an empty array
 * is one part without bytes.
 */
public final class Parcels {

  /** The columns name, part, text, numbers. */
  public static final StructType SCHEMA =
      new StructType()
          .add("name", DataTypes.StringType, false)
          .add("part", DataTypes.IntegerType, false)
          .add("text", DataTypes.StringType, true)
          .add("numbers", DataTypes.BinaryType, true);

  private static final int MOST = 1 << 18;

  private final List<Row> rows = new ArrayList<>();

  /** Starts empty. */
  public Parcels() {}

  /** Adds a text. */
  public Parcels text(String name, String value) {
    rows.add(RowFactory.create(name, 0, value, null));
    return this;
  }

  /** Adds numbers. */
  public Parcels numbers(String name, double... values) {
    int part = 0;
    int from = 0;
    do {
      int count = Math.min(MOST, values.length - from);
      ByteBuffer bytes = ByteBuffer.allocate(Double.BYTES * count).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asDoubleBuffer().put(values, from, count);
      rows.add(RowFactory.create(name, part++, null, bytes.array()));
      from += count;
    } while (from < values.length);
    return this;
  }

  /** Adds integers, as doubles, which hold them exactly: the first so many of an array. */
  public Parcels integers(String name, int[] values, int count) {
    int part = 0;
    int from = 0;
    do {
      int some = Math.min(MOST, count - from);
      ByteBuffer bytes = ByteBuffer.allocate(Double.BYTES * some).order(ByteOrder.LITTLE_ENDIAN);
      for (int k = from; k < from + some; k++) {
        bytes.putDouble(values[k]);
      }
      rows.add(RowFactory.create(name, part++, null, bytes.array()));
      from += some;
    } while (from < count);
    return this;
  }

  /** The table, from local rows without a job. */
  public Dataset<Row> table(SparkSession session) {
    return session.createDataFrame(rows, SCHEMA);
  }
}
