/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.spark.input.MatrixFormat;
import io.sparqr.spark.input.Piped;
import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.table.Table;
import io.sparqr.spark.table.TableReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * A data file in a common format: CSV as people write it, or Parquet.
 *
 * @param table the data, not yet read, with what is known about them
 */
record DataTable(Table table) {

  /** Columns that are named, at most. */
  private static final int NAMED = 20;

  /** Endings of texts that are tables, though not of matrices. */
  private static final Pattern TEXT =
      Pattern.compile("(?i).*\\.(csv|tsv|tab|txt|dat)(\\.(gz|bz2|xz|zst))?");

  /** A pattern of names of files. */
  private static final Pattern WILD = Pattern.compile(".*[*?\\[{].*");

  /**
   * The format of a data file: any text that is no matrix is CSV.
   *
   * @throws UsageException if it is neither
   * @throws java.nio.file.NoSuchFileException if there is no such file
   */
  static MatrixFormat format(String file) throws IOException {
    boolean text = TEXT.matcher(file).matches();
    if (text && (MatrixFormat.exists(file) || WILD.matcher(file).matches())) {
      return MatrixFormat.CSV;
    }
    try {
      return MatrixFormat.of(file);
    } catch (UsageException e) {
      if (Piped.is(file)) {
        return MatrixFormat.CSV;
      }
      throw e;
    }
  }

  static DataTable read(SparkSession spark, String file, MatrixFormat format, TableInput input)
      throws IOException {
    String uri = MatrixFormat.uri(file);
    if (format == MatrixFormat.CSV) {
      try {
        return new DataTable(TableReader.csv(spark, file, uri, input.options()));
      } catch (IllegalArgumentException e) {
        throw new UsageException(String.valueOf(e.getMessage()));
      }
    }
    Table table = Table.of(spark.read().parquet(uri));
    if (table.columns().isEmpty()) {
      throw new MatrixFormatException(file + ": no columns", file, 1);
    }
    return new DataTable(table);
  }

  Dataset<Row> rows() {
    return table.rows();
  }

  /** Decisions that were made unasked, one line each. */
  List<String> notes() {
    return table.notes();
  }

  /** What was read, and the notes. */
  List<String> said() {
    var lines = new ArrayList<String>();
    lines.add(table.summary(NAMED));
    table.notes().forEach(n -> lines.add("note: " + n));
    return lines;
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
