/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.error.MatrixFormatException;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * A data file in a common format: CSV with a header and inferred types, or Parquet.
 *
 * @param rows the data, not yet read
 */
record DataTable(Dataset<Row> rows) {

  private static final String MARK = "\uFEFF";

  static DataTable read(SparkSession spark, String file, MatrixFormat format) {
    String uri = MatrixFormat.uri(file);
    Dataset<Row> rows =
        format == MatrixFormat.PARQUET
            ? spark.read().parquet(uri)
            : spark
                .read()
                .option("header", true)
                .option("inferSchema", true)
                .option("nullValue", "NA")
                .option("ignoreLeadingWhiteSpace", true)
                .option("ignoreTrailingWhiteSpace", true)
                .csv(uri);
    if (rows.columns().length == 0) {
      throw new MatrixFormatException(file + ": no columns", file, 1);
    }
    String first = rows.columns()[0];
    return new DataTable(
        first.startsWith(MARK) ? rows.withColumnRenamed(first, first.substring(1)) : rows);
  }

  /** Writes a table of coefficients as CSV, with NA for undefined values. */
  static void write(List<Row> table, Path file) throws IOException {
    try (BufferedWriter to = Files.newBufferedWriter(file)) {
      to.write("term,estimate,std_error,t_value,p_value\n");
      for (Row r : table) {
        var line = new StringBuilder(quoted(r.getString(0)));
        for (int k = 1; k < r.size(); k++) {
          boolean missing = r.isNullAt(k) || Double.isNaN(r.getDouble(k));
          line.append(',').append(missing ? "NA" : Double.toString(r.getDouble(k)));
        }
        to.write(line.append('\n').toString());
      }
    }
  }

  private static String quoted(String term) {
    boolean plain = term.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? term : '"' + term.replace("\"", "\"\"") + '"';
  }
}
