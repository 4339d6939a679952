/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import java.net.URI;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.spark.api.java.JavaNewHadoopRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * The place of a rejected entry of a table: the line of a CSV file, or the file of a Parquet
 * folder. Found by one more pass over the file only if an entry is rejected, because Spark's reader
 * does not count lines and a valid table should not pay for it.
 */
final class EntryPlace {

  private static final StructType LINES =
      new StructType()
          .add("path", "string")
          .add("start", "bigint")
          .add("number", "bigint")
          .add("text", "string");

  private final SparkSession spark;
  private final String file;
  private final @Nullable Map<String, String> options;
  private final String schema;
  private final boolean header;

  /**
   * @param options of Spark's CSV reader, unless it is Parquet
   * @param schema given to the CSV reader
   * @param header whether the first line of each CSV file is a header
   */
  EntryPlace(
      SparkSession spark,
      String file,
      @Nullable Map<String, String> options,
      String schema,
      boolean header) {
    this.spark = spark;
    this.file = file;
    this.options = options;
    this.schema = schema;
    this.header = header;
  }

  /**
   * The place of the first entry that satisfies a condition.
   *
   * @param wrong an SQL condition on row, column, value; for CSV, on the columns of the reader's
   *     schema
   * @return such as "a.csv:17", or just the name of the file if no place is found
   */
  String of(Dataset<Row> table, String wrong) {
    return options == null ? part(table, wrong) : line(wrong);
  }

  /** Whether the first line of each file names the columns. */
  boolean header() {
    return header;
  }

  private String part(Dataset<Row> table, String wrong) {
    List<Row> found = table.filter(wrong).select(functions.input_file_name()).takeAsList(1);
    String path = found.isEmpty() ? "" : found.get(0).getString(0);
    // The path is a URI, in which %20 is a blank.
    return path.isEmpty() ? file : named(URI.create(path).getPath());
  }

  private String line(String wrong) {
    Column parsed = functions.from_csv(functions.col("text"), functions.lit(schema), options);
    List<Row> found =
        spark
            .createDataFrame(lines(), LINES)
            .filter("trim(text) <> ''")
            .filter(header ? "start > 0 or number > 0" : "true")
            .withColumn("entry", parsed)
            .select("path", "start", "number", "entry.*")
            .filter(wrong)
            .orderBy("path", "start", "number")
            .takeAsList(1);
    if (found.isEmpty()) {
      return file;
    }
    String path = found.get(0).getString(0);
    long number = found.get(0).getLong(2) + before(path, found.get(0).getLong(1));
    return named(path) + ":" + (number + 1);
  }

  /** The file's name as given by the user; in a folder, with the name of the part. */
  private String named(String path) {
    String last = path.substring(path.lastIndexOf('/') + 1);
    boolean whole = MatrixFormat.uri(file).endsWith("/" + last);
    return whole ? file : file.replaceAll("/+$", "") + "/" + last;
  }

  /** Number of lines before a split of a file. */
  private long before(String path, long start) {
    Map<Long, Long> counts = new HashMap<>();
    for (Tuple2<String, long[]> split :
        splits().mapPartitionsWithInputSplit(EntryPlace::count, true).collect()) {
      if (split._1().equals(path)) {
        counts.put(split._2()[0], split._2()[1]);
      }
    }
    return counts.entrySet().stream()
        .filter(e -> e.getKey() < start)
        .sorted(Comparator.comparingLong(Map.Entry::getKey))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static Iterator<Tuple2<String, long[]>> count(
      InputSplit split, Iterator<Tuple2<LongWritable, Text>> lines) {
    long count = 0;
    while (lines.hasNext()) {
      lines.next();
      count++;
    }
    var part = (FileSplit) split;
    return List.of(new Tuple2<>(part.getPath().toString(), new long[] {part.getStart(), count}))
        .iterator();
  }

  private JavaNewHadoopRDD<LongWritable, Text> splits() {
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    return (JavaNewHadoopRDD<LongWritable, Text>)
        context.newAPIHadoopFile(
            MatrixFormat.literal(file),
            TextInputFormat.class,
            LongWritable.class,
            Text.class,
            context.hadoopConfiguration());
  }

  private JavaRDD<Row> lines() {
    return splits().mapPartitionsWithInputSplit(EntryPlace::rows, true);
  }

  private static Iterator<Row> rows(InputSplit split, Iterator<Tuple2<LongWritable, Text>> lines) {
    var part = (FileSplit) split;
    return new Iterator<>() {
      private long number;

      @Override
      public boolean hasNext() {
        return lines.hasNext();
      }

      @Override
      public Row next() {
        String text = lines.next()._2().toString();
        return RowFactory.create(part.getPath().toString(), part.getStart(), number++, text);
      }
    };
  }
}
