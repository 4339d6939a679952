/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;

/**
 * The Java side of {@code src/test/python/csv_fuzz.py}: reads every file of a folder, in pieces of
 * few bytes, and writes what it read as lines of JSON.
 */
final class CsvFuzz {

  private CsvFuzz() {}

  /** Reads the files of the folder {@code args[0]} and writes the file {@code args[1]}. */
  public static void main(String[] args) throws IOException {
    var conf =
        new SparkConf()
            .setMaster("local[1]")
            .setAppName("fuzz")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1");
    var mapper = new ObjectMapper();
    try (var context = new JavaSparkContext(conf);
        var out = new PrintWriter(Files.newBufferedWriter(Path.of(args[1])));
        Stream<Path> files = Files.list(Path.of(args[0]))) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        // Pieces of 1 to 97 bytes, by the file's number, are as many places to cut at.
        long bytes = 1 + Math.floorMod(name.hashCode(), 97);
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("file", name);
        LocalTable t =
            LocalTable.read(context, "file:" + file, TableOptions.builder().build(), bytes);
        said.put("error", t.error());
        said.put("records", t.records());
        said.put("names", t.names());
        said.put("types", Arrays.stream(t.types()).map(ColumnType::word).toList());
        said.put("rows", t.rows().stream().map(CsvFuzz::texts).toList());
        said.put("notes", t.notes());
        out.println(mapper.writeValueAsString(said));
      }
    }
  }

  private static List<String> texts(Row row) {
    List<String> values = new ArrayList<>();
    for (int k = 0; k < row.size(); k++) {
      values.add(row.isNullAt(k) ? null : row.get(k).toString());
    }
    return values;
  }
}
