/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.SampledCases;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every bad input: its exit code, one clear line, nothing written, nothing left behind. */
@Tag("once")
class BadInputTest {

  private static final String HEAD = "%%MatrixMarket matrix coordinate real general\n";
  private static final String ARRAY = "%%MatrixMarket matrix array real general\n";

  private static SparkSession spark;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    spark = CliRun.session();
  }

  @BeforeEach
  void write() throws IOException {
    put("good.mtx", HEAD + "3 2 3\n1 1 1\n2 2 2\n3 1 1\n");
    put("b.mtx", ARRAY + "3 1\n1\n2\n3\n");
    put("exists.mtx", "old");
    put("nan.mtx", HEAD + "3 2 3\n1 1 1\n2 2 nan\n3 1 1\n");
    put("inf.mtx", HEAD + "3 2 3\n1 1 1\n2 2 -inf\n3 1 1\n");
    put("index.mtx", HEAD + "3 2 3\n1 1 1\n2 3 2\n3 1 1\n");
    put("short.mtx", HEAD + "3 2 3\n1 1 1\n2 2 2\n");
    put("word.mtx", HEAD + "3 2 3\n1 1 1\n2 2 two\n3 1 1\n");
    put("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    put("0x2.mtx", HEAD + "0 2 0\n");
    put("2x0.mtx", HEAD + "2 0 0\n");
    put("b4.mtx", ARRAY + "4 1\n1\n2\n3\n4\n");
    put("bnan.mtx", ARRAY + "3 1\n1\nNaN\n3\n");
    put("bempty.mtx", ARRAY + "3 0\n");
    put("text.txt", "hello\n");
    put("good.svm", "1 1:1\n2 2:1\n");
    put("bad.svm", "1 1:1\n2 2:x\n");
    put("twice.svm", "1 1:1 1:2\n");
    put("empty.svm", "# nothing\n");
    put("bad.csv", "row,column,value\n0,0,1\n1,x,2\n");
    put("head.csv", "i,j,v\n0,0,1\n");
    put("neg.csv", "0,0,1\n-1,0,2\n");
    put("nan.csv", "0,0,1\n1,0,NaN\n");
    put("null.csv", "0,0,1\n1,0\n");
    put("named.csv", "row,column,value\n\n0,0,1\n1, 0,-Infinity\n");
    Path parts = Files.createDirectories(folder.resolve("parts.csv"));
    Files.writeString(parts.resolve("part-0.csv"), "0,0,1\n");
    Files.writeString(parts.resolve("part-1.csv"), "1,0,1\n2,0,NaN\n");
    put("empty.csv", "");
    put("one.csv", "1,1,1\n2,1,2\n");
    put("half.csv", "0,0,1\n0.5,0,2\n");
    put("zero.csv", "1,1,1\n\n0,1,2\n");
    put("far.csv", "0,0,1\n1e30,0,2\n");
    put("a b[1].csv", "0,0,1\n1,0,oops\n");
    put("half.mtx", HEAD + "3.5 2 3\n");
    put("index1.5.mtx", HEAD + "3 2 3\n1.5e0 1 1\n");
    put("bom.mtx", "\ufeff" + HEAD + "3 2 3\n1 1 1\n2 2 x\n3 1 1\n");
    put("qid.svm", "1 qid:x 1:1\n");
    Files.createDirectories(folder.resolve("folder.mtx"));
    Files.createDirectories(folder.resolve("folder.svm"));
  }

  private void put(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  private List<String> listing() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.map(f -> f + " " + f.toFile().lastModified()).sorted().toList();
    }
  }

  /** Arguments after "solve", F/ being the folder; exit code; part of the message. */
  @SampledCases(oneIn = 3)
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "--matrix F/none.mtx                                | 2 | none.mtx: no such file",
        "--matrix F/good.mtx --rhs F/none.mtx               | 2 | none.mtx: no such file",
        "--matrix F/nan.mtx                                 | 3 | nan.mtx:4: the value of row 2, column 2",
        "--matrix F/inf.mtx                                 | 3 | inf.mtx:4: the value of row 2, column 2",
        "--matrix F/index.mtx                               | 1 | index.mtx:4: column index 3 is not in 1..2",
        "--matrix F/short.mtx                               | 1 | the file ends after 2 of 3 entries",
        "--matrix F/word.mtx                                | 1 | word.mtx:4: 'two' is no number",
        "--matrix F/complex.mtx                             | 1 | complex matrices are not supported",
        "--matrix F/0x2.mtx                                 | 1 | a 0 x 2 matrix has no rows",
        "--matrix F/2x0.mtx                                 | 1 | a 2 x 0 matrix has no columns",
        "--matrix F/good.mtx --rhs F/b4.mtx                 | 1 | the right-hand side has 4 rows, the matrix 3",
        "--matrix F/good.mtx --rhs F/b.mtx --transpose      | 1 | the right-hand side has 3 rows, the matrix 2",
        "--matrix F/good.mtx --rhs F/bnan.mtx               | 3 | bnan.mtx:4",
        "--matrix F/good.mtx --rhs F/bempty.mtx             | 1 | the right-hand side has no columns",
        "--matrix F/text.txt                                | 2 | the format is not clear",
        "--matrix F/folder.mtx/                             | 2 | folder.mtx/: a folder, not a file",
        "--matrix F/folder.svm --reader executors           | 2 | folder.svm: a folder, not a file",
        "--matrix F/good.mtx --rhs F/folder.mtx             | 2 | folder.mtx: a folder, not a file",
        "--matrix F/one.csv                                 | 1 | one.csv: row 0 and column 0 are empty: if indices count from 1, --index-base 1",
        "--matrix F/zero.csv --index-base 1                 | 1 | zero.csv:3: an index below 1 (they count from 1)",
        "--matrix F/neg.csv --index-base 1                  | 1 | neg.csv:1: an index below 1",
        "--matrix F/one.csv --index-base 2                  | 2 | --index-base 2: 0 or 1",
        "--matrix F/good.mtx --index-base 1                 | 2 | --index-base is for tables",
        "--matrix F/half.csv                                | 1 | half.csv:2: row and column must be whole numbers, the entry is (0.5, 0.0, 2.0)",
        "--matrix F/far.csv                                 | 1 | far.csv:2: row and column must be whole numbers",
        "--matrix F/a?b[1].csv                              | 1 | a b[1].csv:2: '1,0,oops' is not of the form row,column,value",
        "--matrix F/half.mtx                                | 1 | half.mtx:2: '3.5' is no number of rows",
        "--matrix F/index1.5.mtx                            | 1 | index1.5.mtx:3: '1.5e0' is no row index",
        "--matrix F/bom.mtx                                 | 1 | bom.mtx:4: 'x' is no number",
        "--matrix F/bom.mtx --reader executors              | 1 | bom.mtx:4: 'x' is no number",
        "--matrix F/qid.svm                                 | 1 | qid.svm:1: 'x' is no qid",
        "--matrix s3a://bucket/a.mtx                        | 2 | s3a://bucket/a.mtx: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found; hadoop-aws 3.",
        "--matrix nowhere://bucket/a.mtx                    | 2 | no file system of Hadoop's is called 'nowhere:'",
        "--matrix F/nan.mtx --reader executors              | 3 | nan.mtx:4: the value of row 2, column 2",
        "--matrix F/short.mtx --reader executors            | 1 | the file ends after 2 of 3 entries",
        "--matrix F/good.mtx --rhs F/b4.mtx --reader executors | 1 | the right-hand side has 4 rows, the matrix 3",
        "--matrix F/good.mtx --rhs F/bempty.mtx --reader executors | 1 | the right-hand side has no columns",
        "--matrix F/b.mtx --reader executors                | 2 | it is an array, not coordinates",
        "--matrix F/good.svm --rhs F/b4.mtx --reader executors | 1 | the right-hand side has 4 rows, the matrix 2",
        "--matrix F/good.svm --transpose --rhs F/b4.mtx --reader executors | 2 | transposed in one JVM",
        "--matrix F/good.mtx --reader executors --master yarn | 2 | a path without scheme",
        "--matrix gen:nug5 --reader executors               | 2 | it is generated, no file",
        "--matrix F/good.mtx --reader everybody             | 2 | everybody",
        "--matrix F/twice.svm --reader executors            | 1 | twice.svm:1: index 1 comes twice",
        "--matrix F/bad.svm                                 | 1 | bad.svm:2: 'x' is no value",
        "--matrix F/twice.svm                               | 1 | twice.svm:1: index 1 comes twice",
        "--matrix F/empty.svm                               | 1 | has no columns",
        "--matrix F/good.svm --transpose                    | 2 | --rhs is needed",
        "--matrix F/bad.csv                                 | 1 | bad.csv:3: '1,x,2' is not of the form row,column,value",
        "--matrix F/head.csv                                | 1 | the header must be row,column,value",
        "--matrix F/neg.csv                                 | 1 | neg.csv:2: a negative index",
        "--matrix F/nan.csv                                 | 3 | nan.csv:2: the value of row 1, column 0 is not finite",
        "--matrix F/named.csv                               | 3 | named.csv:4: the value of row 1, column 0 is not finite",
        "--matrix F/parts.csv                               | 3 | parts.csv/part-1.csv:2: the value of row 2, column 0 is not finite",
        "--matrix F/null.csv                                | 1 | null.csv:2: '1,0' is not of the form row,column,value",
        "--matrix F/empty.csv                               | 1 | empty",
        "--matrix gen:nonsense                              | 2 | 'gen:nonsense' is not a specification",
        "--matrix gen:cells3d99999                          | 1 | do not fit",
        "--matrix gen:nug5 --ordering metis                 | 2 | 'metis' is none of auto, colamd",
        "--matrix gen:nug5 --backend tpu                    | 2 | 'tpu' is none of auto, cpu, cuda",
        "--matrix gen:nug5 --rank-tolerance much            | 2 | --rank-tolerance",
        "--matrix gen:nug5 --tolerance NaN                  | 2 | --rank-tolerance is NaN",
        "--matrix gen:nug5 --repeat 0                       | 2 | --repeat 0",
        "--matrix gen:nug5 --ridge -1                       | 2 | --ridge",
        "--matrix gen:nug5 --refine -1                      | 2 | --refinement -1",
        "--matrix gen:nug5 --executors -1                   | 2 | cannot be negative",
        "--matrix gen:nug5 --minimum-executors -1           | 2 | --minimum-executors -1",
        "--matrix gen:nug5 --executor-wait -1               | 2 | --executor-wait -1.0",
        "--matrix gen:nug5 --master nonsense                | 2 | is not a Spark master",
        "--matrix gen:nug5 --unknown                        | 2 | Unknown option: '--unknown'",
        "--matrix gen:nug5 extra                            | 2 | 'extra'",
        "--out F/x.mtx                                      | 2 | Missing required option: '--matrix",
        "--matrix gen:nug5 --out F/exists.mtx               | 2 | exists.mtx exists (--overwrite",
        "--matrix gen:nug5 --report F/exists.mtx            | 2 | exists.mtx exists (--overwrite",
        "--matrix gen:nug5 --out F/no/x.mtx                 | 2 | no such folder",
        "--matrix gen:nug5 --out F --overwrite              | 2 | is a folder",
        "--matrix gen:nug5 --out F/x --report F/x           | 2 | the same file",
      })
  void isRefusedInOneLine(String arguments, int code, String message) throws IOException {
    List<String> before = listing();
    String[] words = ("solve " + arguments.strip().replace("F/", folder + "/")).split(" +");
    for (int k = 0; k < words.length; k++) {
      words[k] = words[k].equals("F") ? folder.toString() : words[k].replace('?', ' ');
    }
    if (!arguments.contains("--out")) {
      words =
          Stream.concat(Stream.of(words), Stream.of("--out", folder + "/new.mtx"))
              .toArray(String[]::new);
    }

    CliRun run = CliRun.of((Object[]) words);

    assertThat(run.code()).as(run.err()).isEqualTo(code);
    assertThat(run.errors()).as(run.err()).hasSize(1);
    assertThat(run.errors().get(0)).contains(message);
    assertThat(run.err()).doesNotContain("\tat ");
    assertThat(run.out()).isEmpty();
    assertThat(listing()).isEqualTo(before);
    assertThat(spark.sparkContext().getPersistentRDDs().size()).isZero();
  }

  @Test
  void verboseShowsTheStackTrace() {
    CliRun run = CliRun.of("solve", "--matrix", folder.resolve("short.mtx"), "--verbose");
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err()).contains("\tat io.sparqr.matrix.MatrixMarket");
  }

  @Test
  void outputsAreCheckedBeforeTheInputIsRead() {
    CliRun run =
        CliRun.of(
            "solve", "--matrix", folder.resolve("none.mtx"), "--out", folder.resolve("exists.mtx"));
    assertThat(run.code()).isEqualTo(2);
  }

  @Test
  void commandsAreMissingOrUnknown() {
    assertThat(CliRun.of().code()).isEqualTo(2);
    assertThat(CliRun.of("frobnicate").code()).isEqualTo(2);
    assertThat(CliRun.of("generate", "gen:nug3").errors().get(0)).contains("--out");
    assertThat(CliRun.of("--help").out()).contains("solve", "analyze", "generate", "Exit codes");
    assertThat(CliRun.of("solve", "--help").code()).isZero();
  }

  @Test
  void failuresInTasksAreToldByTheirCause() {
    Exception wrapped =
        new RuntimeException(
            "Job aborted due to stage failure: ...\nDriver stacktrace:",
            new IllegalStateException(
                new io.sparqr.error.NonFiniteValueException("row 3 of partition 1", 3, 2)));
    assertThat(Failures.telling(wrapped)).hasMessage("row 3 of partition 1");
    assertThat(Failures.code(Failures.telling(wrapped))).isEqualTo(3);
    assertThat(Failures.code(new IllegalArgumentException("from a library"))).isEqualTo(1);
    assertThat(Failures.oneLine("a\nb")).isEqualTo("a");
    var stopped =
        new IllegalStateException(
            "Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was ...");
    assertThat(Failures.message(stopped)).contains("none of its executors would start");
  }
}
