/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.table.ColumnType;
import io.sparqr.spark.table.TableOptions;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options on how a data file is read. What is not given is found out from the file. */
final class TableInput {

  /** The names of column types, for the help text. */
  static final class Types implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return List.of(ColumnType.words()).iterator();
    }
  }

  @Option(
      names = "--types",
      paramLabel = "COLUMN=TYPE",
      completionCandidates = Types.class,
      description =
          "types of columns of a CSV file, \"id,zip=text,day=date\": ${COMPLETION-CANDIDATES};"
              + " default: by all of the column's values")
  private List<String> types = List.of();

  @Option(
      names = "--missing",
      paramLabel = "MARKS",
      description =
          "values of a CSV file that mean missing, besides nothing and NA: \"., N/A, NULL\"")
  private List<String> missing = List.of();

  @Option(names = "--keep-na", description = "NA is a value like any other")
  private boolean keepNa;

  @Option(
      names = "--delimiter",
      paramLabel = "C",
      description =
          "between fields of a CSV file, or tab, space; default: , ; tab or | by the header")
  private @Nullable String delimiter;

  @Option(names = "--quote", paramLabel = "C", description = "quote of a CSV file; default \"")
  private @Nullable String quote;

  @Option(
      names = "--comment",
      paramLabel = "C",
      description = "lines of a CSV file that begin with it are skipped; default none")
  private @Nullable String comment;

  @Option(
      names = "--decimal",
      paramLabel = ".|,",
      description = "decimal mark of a CSV file; default: point, or comma where that is evident")
  private @Nullable String decimal;

  @Option(
      names = "--thousands",
      paramLabel = "C",
      description = "mark between thousands in a CSV file; default none")
  private @Nullable String thousands;

  @Option(
      names = "--encoding",
      paramLabel = "NAME",
      description =
          "of a CSV file: latin1, utf-16, ...; default: by its byte order mark, else UTF-8, or"
              + " windows-1252 if it is not that")
  private @Nullable String encoding;

  /**
   * The options for the reader.
   *
   * @throws IllegalArgumentException if one is wrong
   */
  TableOptions options() {
    var builder = TableOptions.builder().missing(marks());
    types.forEach(builder::types);
    if (keepNa) {
      builder.keepNa();
    }
    if (delimiter != null) {
      builder.delimiter(delimiter);
    }
    if (quote != null) {
      builder.quote(quote);
    }
    if (comment != null) {
      builder.comment(comment);
    }
    if (decimal != null) {
      builder.decimal(decimal);
    }
    if (thousands != null) {
      builder.thousands(thousands);
    }
    if (encoding != null) {
      builder.encoding(encoding);
    }
    return builder.build();
  }

  private List<String> marks() {
    var marks = new ArrayList<String>();
    for (String list : missing) {
      for (String mark : list.split(",")) {
        marks.add(mark.strip());
      }
    }
    return marks;
  }
}
