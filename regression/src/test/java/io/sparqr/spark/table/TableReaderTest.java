/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import io.sparqr.error.MatrixFormatException;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableReaderTest {

  private static final String[] TEXTS = {
    "a", "Lee \"Bo\", Jr", "two\nlines", "cr\r\nlf", "größe", "日本", "\"", ",", " spaces ", "1D"
  };

  private static SparkSession spark;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    spark =
        SparkSession.builder()
            .master("local[2]")
            .appName("table test")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.session.timeZone", "Europe/Berlin")
            .config("spark.sql.datetime.java8API.enabled", true)
            .getOrCreate();
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  private Table read(String text, TableOptions options) throws IOException {
    return read(text.getBytes(StandardCharsets.UTF_8), options, TableSplitter.BYTES);
  }

  private Table read(byte[] text, TableOptions options, long pieceBytes) throws IOException {
    Path file = Files.write(folder.resolve("t.csv"), text);
    return TableReader.csv(spark, "t.csv", "file:" + file, options, pieceBytes);
  }

  private static String types(Table t) {
    return String.join(" ", t.columns().stream().map(TableColumn::type).toList());
  }

  /** Tables whose cells are known, cut into pieces of a few bytes. */
  @Sampled(oneIn = 3)
  @Test
  void cellsByConstructionWhereverFilesAreCut() throws IOException {
    long seed = Long.getLong("test.seed", 44);
    var random = new Random(seed);
    for (int k = 0; k < 12; k++) {
      var text = new StringBuilder("name,x,\"y, z\"\n");
      List<Row> rows = new ArrayList<>();
      int count = 1 + random.nextInt(60);
      for (int i = 0; i < count; i++) {
        String name = TEXTS[random.nextInt(TEXTS.length)];
        long x = random.nextLong();
        Double y = random.nextInt(4) == 0 ? null : random.nextGaussian();
        rows.add(RowFactory.create(name, x, y));
        text.append('"').append(name.replace("\"", "\"\"")).append("\",").append(x).append(',');
        text.append(y == null ? "NA" : y).append(random.nextBoolean() ? "\n" : "\r\n");
      }
      Charset charset = k % 4 == 3 ? StandardCharsets.UTF_16 : StandardCharsets.UTF_8;
      long bytes = 1 + random.nextInt(300);
      Table t = read(text.toString().getBytes(charset), TableOptions.builder().build(), bytes);
      String what = "seed " + seed + ", file " + k;
      assertThat(t.rows().collectAsList()).as(what).containsExactlyElementsOf(withTypes(t, rows));
    }
  }

  /** A column of missing values only is one of numbers. */
  private static List<Row> withTypes(Table t, List<Row> rows) {
    assertThat(types(t)).isEqualTo("text integer number");
    return rows;
  }

  @Sampled(oneIn = 3)
  @Test
  void aLineIsNamedWhereverFilesAreCut() {
    var text = new StringBuilder("a,b\n");
    for (int i = 0; i < 50; i++) {
      text.append(i).append(",\"x\ny\"\r\n");
    }
    byte[] wrong = (text + "1,2,3\n" + text).getBytes(StandardCharsets.UTF_8);
    for (long bytes : new long[] {1, 7, 64, 300, 1 << 20}) {
      assertThatThrownBy(() -> read(wrong, TableOptions.builder().build(), bytes))
          .isInstanceOf(MatrixFormatException.class)
          .hasMessage("t.csv, line 102: 3 fields where the header has 2: 1,2,3");
    }
  }

  @Test
  void datesTimesAndBooleans() throws IOException {
    Table t =
        read(
            "d,t,i,b,mixed\n2020-01-31,2021-03-28 02:30:00,2021-03-28T02:30:00Z,TRUE,2020-01-01\n"
                + "NA,1969-12-31T23:59:59.5,2021-03-28T02:30:00+02:00,false,2020-01-01 10:00\n",
            TableOptions.builder().build());
    assertThat(types(t)).isEqualTo("date timestamp instant boolean text");
    List<Row> rows = t.rows().collectAsList();
    assertThat(rows.get(0).<Object>getAs("d")).isEqualTo(LocalDate.of(2020, 1, 31));
    // This hour does not exist in Berlin.
    assertThat(rows.get(0).<Object>getAs("t")).isEqualTo(LocalDateTime.of(2021, 3, 28, 2, 30));
    assertThat(rows.get(0).<Object>getAs("i")).hasToString("2021-03-28T02:30:00Z");
    assertThat(rows.get(1).<Object>getAs("i")).hasToString("2021-03-28T00:30:00Z");
    assertThat(rows.get(1).isNullAt(0)).isTrue();
  }

  @Test
  void typesByRequest() throws IOException {
    String text = "id,\"a, b\",\"c=d\"\n007,2020-01-01,1\n8,2020-01-02,2\n";
    assertThat(types(read(text, TableOptions.builder().build()))).isEqualTo("text date integer");
    var options = TableOptions.builder().types("id=integer, a, b,c=d=text").build();
    assertThat(types(read(text, options))).isEqualTo("integer text text");
    assertThatThrownBy(() -> read(text, TableOptions.builder().types("id=date").build()))
        .hasMessage("line 2: \"007\" in column id is no date");
  }

  @Test
  void decimalCommasAndThousands() throws IOException {
    Table t = read("y;x\n1,250;2\n0,125;3\n", TableOptions.builder().build());
    assertThat(types(t)).isEqualTo("number integer");
    assertThat(t.notes()).containsExactly("delimiter ';'", "decimal comma");
    t = read("y;x\n1,250;2\n2,125;3\n", TableOptions.builder().build());
    assertThat(types(t)).isEqualTo("text integer");
    assertThat(t.notes().get(1)).contains("--decimal , or --thousands ,");
    var thousands = TableOptions.builder().thousands(",").build();
    assertThat(read("y,x\n\"1,250\",1\n907,2\n", thousands).rows().first().getLong(0))
        .isEqualTo(1250);
    var german = TableOptions.builder().thousands(".").decimal(",").build();
    assertThat(read("y;x\n1.250,5;1\n907;2\n", german).rows().first().getDouble(0))
        .isEqualTo(1250.5);
  }

  /** Bytes behind the first megabyte decide, too. */
  @Test
  void encodings() throws IOException {
    String text = "y,g\n" + "1,a\n".repeat(Sniffer.HEAD / 4) + "2,größe\n";
    Table t =
        read(text.getBytes(StandardCharsets.ISO_8859_1), TableOptions.builder().build(), 1 << 18);
    assertThat(t.notes()).containsExactly(Encoding.windows().note());
    assertThat(t.rows().filter("g = 'größe'").count()).isOne();
    var utf8 = TableOptions.builder().encoding("utf-8").build();
    assertThatThrownBy(
            () -> read("y,g\n1,ö\n2,é\n".getBytes(StandardCharsets.ISO_8859_1), utf8, 99))
        .hasMessage("t.csv, line 2: no text in UTF-8; --encoding NAME, such as latin1 or utf-16");
    t = read("y,g\n1,a\n".getBytes(StandardCharsets.UTF_16LE), TableOptions.builder().build(), 99);
    assertThat(t.notes()).containsExactly("encoding UTF-16LE, by its zero bytes");
  }

  @Test
  void spacesCommentsAndExcelsFirstLine() throws IOException {
    Table t = read("sep=;\ny; \"g\"\n1; \"a;b\" \n2 ; c \n", TableOptions.builder().build());
    assertThat(t.rows().collectAsList())
        .containsExactly(RowFactory.create(1L, "a;b"), RowFactory.create(2L, "c"));
    var comment = TableOptions.builder().comment("#").build();
    assertThat(read("# said \"\ny,x\n1,2\n# 3,4\n\n5,6\n", comment).rows().count()).isEqualTo(2);
    t = read(",y,x\n1,2,3\n2,3,4\n", TableOptions.builder().build());
    assertThat(t.rows().columns()).containsExactly("_c0", "y", "x");
    t = read("y,x\n1,2,\n3,4,\n", TableOptions.builder().build());
    assertThat(t.notes()).containsExactly("every row ends with a delimiter");
    t = read("y,x,\n1,2\n3,4\n", TableOptions.builder().build());
    assertThat(t.rows().columns()).containsExactly("y", "x");
    t = read("c0;\"a \"\"b\"\", c\"\n,;1\n", TableOptions.builder().build());
    assertThat(t.rows().columns()).containsExactly("c0", "a \"b\", c");
  }

  @Test
  void namesThatDifferInCaseOrHaveDots() throws IOException {
    Table t = read("x,X,a.b,\"tick`y\"\n1,2,3,4\n", TableOptions.builder().build());
    assertThat(t.rows().first()).isEqualTo(RowFactory.create(1L, 2L, 3L, 4L));
    assertThat(t.summary(2)).isEqualTo("columns: x integer, X integer and 2 more");
  }
}
