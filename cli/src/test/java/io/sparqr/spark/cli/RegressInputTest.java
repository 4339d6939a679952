/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code sparqr regress} on CSV as people write it. */
class RegressInputTest {

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    CliRun.session();
  }

  private static Path given(String name) throws URISyntaxException {
    return Path.of(RegressInputTest.class.getResource("/csv/" + name).toURI());
  }

  private Path put(String name, String... lines) throws IOException {
    return Files.writeString(folder.resolve(name), String.join("\n", lines) + "\n");
  }

  /** Coefficient and standard error of a term. */
  private double[] estimate(String term, Path data, Object... options) throws IOException {
    CliRun run = run(data, options);
    assertThat(run.code()).as(run.err()).isZero();
    List<String> lines = Files.readAllLines(folder.resolve("coef.csv"));
    String line =
        lines.stream().filter(l -> l.startsWith(term + ",")).findFirst().orElse("no " + term);
    assertThat(line).as(run.out()).startsWith(term + ",");
    return Arrays.stream(line.substring(term.length() + 1).split(","))
        .limit(2)
        .mapToDouble(Double::parseDouble)
        .toArray();
  }

  private CliRun run(Path data, Object... options) {
    Object[] all = new Object[options.length + 5];
    all[0] = "regress";
    all[1] = data;
    all[2] = "--out";
    all[3] = folder.resolve("coef.csv");
    all[4] = "--overwrite";
    System.arraycopy(options, 0, all, 5, options.length);
    return CliRun.of(all);
  }

  private CliRun refused(Path data, Object... options) {
    CliRun run = run(data, options);
    assertThat(run.code()).as(run.out()).isNotZero();
    assertThat(run.errors()).as(run.err()).hasSize(1);
    return run;
  }

  /** Values of NumPy's lstsq on pandas's tables. */
  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @CsvSource({
    "17c_shift.csv, y ~ x, x, 1.969925, 0.057371, columns: name text",
    "19_newline2.csv, y ~ x, x, 2.988235, 0.064744, 16 rows",
    "19_semicolon.csv, y ~ x, x, 2.988235, 0.064744, delimiter ';'",
    "19_latin1.csv, y ~ größe, größe, 2.988235, 0.064744, windows-1252",
    "19_utf16.csv, y ~ x, x, 2.988235, 0.064744, UTF-16LE",
    "19_trailing.csv, y ~ x, x, 2.988235, 0.064744, neither a name nor values"
  })
  void asPeopleSaveThem(String file, String formula, String term, double b, double se, String said)
      throws IOException, URISyntaxException {
    double[] found = estimate(term, given(file), "--formula", formula);
    assertThat(found[0]).isCloseTo(b, within(Tolerances.decimals(6)));
    assertThat(found[1]).isCloseTo(se, within(Tolerances.decimals(6)));
    assertThat(run(given(file), "--formula", formula).err()).contains(said);
  }

  @Test
  void aRowWithTooManyOrTooFewFieldsIsNamed() throws IOException, URISyntaxException {
    assertThat(refused(given("19_thousands.csv"), "--formula", "y ~ x").err())
        .contains("19_thousands.csv, line 5: 3 fields where the header has 2: 1,148,4");
    Path few = put("few.csv", "y,x,note", "1,2,\"a", "b\"", "3,4,c", "5,6", "7,8,d");
    assertThat(refused(few, "--formula", "y ~ x").err())
        .contains("few.csv, line 5: 2 fields where the header has 3: 5,6");
    Path mixed = put("mixed.csv", "y,x", "1,2", "3,148,", "5,6");
    assertThat(refused(mixed, "--formula", "y ~ x").err()).contains("line 3: 3 fields");
  }

  @Test
  void oneLineForEachFileThatIsNoTable() throws IOException {
    assertThat(refused(put0("empty.csv", ""), "--formula", "y ~ x").err())
        .contains("empty.csv: an empty file");
    assertThat(refused(put("blank.csv", "", " "), "--formula", "y ~ x").err())
        .contains("blank lines only");
    assertThat(refused(put("header.csv", "y,x"), "--formula", "y ~ x").err())
        .contains("a header, but no rows");
    assertThat(refused(put("twice.csv", "y,x,y", "1,2,3"), "--formula", "y ~ x").err())
        .contains("line 1: two columns are called y, fields 1 and 3");
    assertThat(refused(put("spaces.csv", "y x", "1 2", "3 5"), "--formula", "y ~ x").err())
        .contains("one column, \"y x\"; with --delimiter space there would be 2");
    assertThat(refused(put("open.csv", "y,x", "1,2", "3,\"4", "5,6"), "--formula", "y ~ x").err())
        .contains("line 3: a quote that opens in this row is not closed");
    assertThat(refused(put("behind.csv", "y,x", "1,\"2\"3"), "--formula", "y ~ x").err())
        .contains("line 2: text behind a closing quote");
  }

  private Path put0(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  /** An effect of codes 1A to 1J has ten levels, and 1D and 1F are no numbers. */
  @Test
  void codesStayTexts() throws IOException {
    var text = new StringBuilder("y,x,code,id,long\n");
    for (int i = 0; i < 40; i++) {
      text.append(2 * i + i % 3).append(',').append(i % 7 + i).append(",1");
      text.append((char) ('A' + i % 10)).append(String.format(",%03d", i % 9));
      text.append(",1234567890123456789").append(i % 2).append('\n');
    }
    Path data = put0("codes.csv", text.toString());
    CliRun run = run(data, "--formula", "y ~ x | code", "--cluster", "id");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.err())
        .contains("code text (10 levels), id text (9 levels), long text (2 levels)")
        .contains("note: id is text: leading zeros (first \"000\" in line 2)")
        .contains("note: long is text: whole numbers of more than 64 bits");
    assertThat(run(data, "--formula", "y ~ id", "--types", "id=integer").err())
        .contains("id integer, long text");
  }

  @Test
  void marksOfMissingValuesAreSaidAndTakenByOption() throws IOException {
    Path data =
        put("marks.csv", "y,x,g", "1,1,a", "3,.,b", "4,3,NULL", "7,4,a", "N/A,5,b", "9,6,\"NA\"");
    CliRun run = run(data, "--formula", "y ~ x");
    assertThat(run.code()).isNotZero();
    run = run(data, "--formula", "y ~ x", "--missing", "., N/A, NULL", "--handle-invalid", "skip");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.err())
        .contains("y integer (1 missing), x integer (1 missing), g text (2 levels, 2 missing)");
    assertThat(run.out()).contains("on 2 degrees of freedom");
    assertThat(run(data, "--formula", "x ~ 1").err())
        .contains("note: x is text because of \".\" in 1 of 6 values (first \".\" in line 3)");
  }

  @Test
  void compressedFoldersAndWrongOptions() throws IOException {
    Path parts = Files.createDirectory(folder.resolve("parts.csv"));
    Files.writeString(parts.resolve("_SUCCESS"), "");
    Files.writeString(parts.resolve("part-0.csv"), "y,x\n1,1\n2,3\n");
    Files.writeString(parts.resolve("part-1.csv"), "");
    try (OutputStream out =
        new GZIPOutputStream(Files.newOutputStream(parts.resolve("part-2.csv.gz")))) {
      out.write("y,x\n6,4\n7,8\n".getBytes(StandardCharsets.UTF_8));
    }
    assertThat(run(parts, "--formula", "y ~ x").err()).contains("4 rows");
    Files.writeString(parts.resolve("part-3.csv"), "x,y\n6,4\n7,8\n");
    assertThat(refused(parts, "--formula", "y ~ x").err())
        .contains("(part-3.csv), line 1: the header is not that of the table's first file");
    Path data = put("d.csv", "y,x", "1,2", "3,4");
    for (String[] wrong :
        new String[][] {
          {"--types", "z=text", "no column of this name"},
          {"--types", "x=texts", "no column type is called 'texts'"},
          {"--encoding", "latin17", "no encoding is called 'latin17'"},
          {"--delimiter", ";;", "one character"},
          {"--decimal", ";", ". or ,"},
          {"--delimiter", "\"", "is both delimiter and quote"},
        }) {
      CliRun run = run(data, "--formula", "y ~ x", wrong[0], wrong[1]);
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.err()).contains(wrong[2]);
    }
  }

  @Test
  void patternsAndOtherEndings() throws IOException {
    put("one.csv", "y,x", "1,1", "2,3");
    put("two.csv", "y,x", "6,4", "7,8");
    assertThat(run(folder.resolve("[ot]*.csv"), "--formula", "y ~ x").err()).contains("4 rows");
    assertThat(run(folder.resolve("t*.csv"), "--formula", "y ~ 1").err()).contains("2 rows");
    assertThat(run(folder.resolve("z*.csv"), "--formula", "y ~ 1").code()).isEqualTo(2);
    Path tabs = put("tabs.txt", "y\tx", "1\t1", "2\t3", "5\t3");
    assertThat(run(tabs, "--formula", "y ~ x").err()).contains("note: delimiter tab");
  }
}
