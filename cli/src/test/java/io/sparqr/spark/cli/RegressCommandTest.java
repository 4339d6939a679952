/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.ml.RegressionOption;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.plan.DeclaredOption.Way;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** {@code sparqr regress} on data files as people have them. */
class RegressCommandTest {

  /** Data and what R says of them, which the regression module's tests use, too. */
  private static final Path R =
      Path.of(System.getProperty("basedir", "."), "../regression/src/test/resources/r");

  private static SparkSession spark;
  private static Path csv;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    spark = CliRun.session();
    csv = R.resolve("summary.csv");
  }

  private static CliRun regressed(Object... arguments) {
    Object[] all = new Object[arguments.length + 1];
    all[0] = "regress";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return CliRun.of(all);
  }

  /** The printout of a case of src/test/r/summary.R. */
  private static String ofR(String head) throws IOException {
    Path file = csv.resolveSibling("summary.txt");
    var text = new ArrayList<String>();
    boolean inside = false;
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("case ")) {
        inside = line.startsWith("case " + head + " |");
      } else if (inside) {
        text.add(line.stripTrailing());
      }
    }
    return String.join("\n", text.subList(1, text.size())).strip();
  }

  private static String stripped(String text) {
    return String.join("\n", text.lines().map(String::stripTrailing).toList());
  }

  @Test
  void printsTheTableOfRAndWritesIt() throws IOException {
    Path out = folder.resolve("coef.csv");
    Path report = folder.resolve("r.json");
    CliRun run =
        regressed(
            csv,
            "--formula",
            "y ~ x * g + z:h",
            "--weights",
            "w",
            "--out",
            out,
            "--report",
            report);
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(stripped(run.out())).contains(ofR("y ~ x * g + z:h"));
    List<String> lines = Files.readAllLines(out);
    assertThat(lines.get(0)).isEqualTo("term,estimate,std_error,t_value,p_value");
    assertThat(lines.stream().skip(1).map(l -> l.split(",")[0]))
        .containsExactly("(Intercept)", "x", "gq", "gr", "x:gq", "x:gr", "z:hno", "z:hyes");
    double[] x =
        Arrays.stream(lines.get(2).split(",")).skip(1).mapToDouble(Double::parseDouble).toArray();
    assertThat(x[0] / x[1]).isEqualTo(x[2]);
    assertThat(x[0]).isCloseTo(0.91287, within(Tolerances.decimals(5)));
    assertThat(new ObjectMapper().readTree(report.toFile()).get("rows").asInt()).isEqualTo(90);
  }

  /** As declared, and nothing under other names than those of the declarations. */
  @Test
  void theOptionsOfTheRegressionAreDeclared() {
    List<OptionSpec> options = new CommandLine(new RegressCommand()).getCommandSpec().options();
    List<RegressionOption<?>> declared =
        RegressionOption.all().stream().filter(o -> o.ways().contains(Way.COMMAND_LINE)).toList();
    assertThat(options.stream().map(OptionSpec::longestName))
        .startsWith("--formula")
        .endsWith("--help", "--version")
        .containsAll(declared.stream().flatMap(o -> o.word().stream()).toList());
    assertThat(options.stream().filter(OptionSpec::hidden).map(OptionSpec::longestName))
        .contains("--reference", "--no-errors")
        .containsAll(declared.stream().flatMap(o -> o.formerWords().stream()).toList());
    for (RegressionOption<?> option : declared) {
      OptionSpec spec =
          options.stream()
              .filter(o -> o.longestName().equals(option.word().orElseThrow()))
              .findFirst()
              .orElseThrow();
      assertThat(spec.required()).isEqualTo(option == RegressionOption.FORMULA);
      assertThat(String.join("", spec.description())).contains(option.summary().replace("`", ""));
    }
  }

  /** With words of earlier versions, which are accepted until 1.0. */
  @Test
  void parquetFactorsAndReferenceLevels() throws IOException {
    Dataset<Row> data =
        spark.read().option("header", true).option("inferSchema", true).csv(csv.toString());
    String parquet = folder.resolve("data.parquet").toString();
    data.selectExpr("*", "int(big % 4) as k").coalesce(2).write().parquet(parquet);
    Path out = folder.resolve("coef.csv");
    CliRun run =
        regressed(
            parquet, "--formula", "y ~ x | g", "--categorical", "k", "--out", out, "--no-errors");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(Files.readAllLines(out).get(1)).startsWith("x,").endsWith(",NA,NA,NA");
    run =
        regressed(
            parquet,
            "--formula",
            "y ~ k + g",
            "--categorical",
            "k",
            "--reference",
            "k=2,g=q",
            "--out",
            out,
            "--overwrite");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(Files.readAllLines(out).stream().skip(1).map(l -> l.split(",")[0]))
        .containsExactly("(Intercept)", "k0", "k1", "k3", "gp", "gr");
    var expected =
        new SparseQRRegression()
            .setFormula("y ~ factor(k) + g")
            .setReferenceLevels("k=2", "g=q")
            .fit(spark.read().parquet(parquet));
    assertThat(Double.parseDouble(Files.readAllLines(out).get(2).split(",")[1]))
        .isEqualTo(expected.coefficients().apply(0));
  }

  @Test
  void missingValuesAndAMarkAtTheBeginning() throws IOException {
    Path file = folder.resolve("holes.csv");
    Files.writeString(
        file, "\uFEFFy,x,\"g, h\"\n1,1,a\n2,NA,b\n2.5,3, b\n4,4,a \n,5,b\n6,5.5,b\n7,2,a\n");
    Path out = folder.resolve("coef.csv");
    CliRun run = regressed(file, "--formula", "y ~ x + `g, h`");
    assertThat(run.code()).isEqualTo(3);
    assertThat(run.errors()).hasSize(1);
    assertThat(run.errors().get(0)).contains("x is null (y = 2.0, x = null, `g, h` = b)");
    run = regressed(file, "--formula", "y ~ x + `g, h`", "--handle-invalid", "skip", "--out", out);
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).contains("on 2 degrees of freedom");
    assertThat(Files.readAllLines(out).get(3)).startsWith("\"`g, h`b\",");
  }

  @Test
  void wrongCommandLines() {
    for (Object[] wrong :
        new Object[][] {
          {"--formula", "y ~ x +", "the end where a term should stand, at character 8"},
          {"--formula", "y ~ wages", "no column wages; there are x, z"},
          {"--formula", "y ~ x", "--weights", "nobody", "no column nobody"},
          {"--formula", "y ~ x", "--reference", "x=1", "a reference level of x"},
          {"--formula", "y ~ x", "--handle-invalid", "drop", "drop"},
          {"--formula", "y ~ x", "--backend", "tpu", "tpu"},
          {"--formula", "g ~ x", "g: column g of type string is not a number"},
        }) {
      Object[] arguments = new Object[wrong.length];
      arguments[0] = csv;
      System.arraycopy(wrong, 0, arguments, 1, wrong.length - 1);
      CliRun run = regressed(arguments);
      assertThat(run.code()).as(run.err()).isEqualTo(2);
      assertThat(run.errors()).hasSize(1);
      assertThat(run.errors().get(0)).contains((String) wrong[wrong.length - 1]);
    }
    assertThat(regressed("none.csv", "--formula", "y ~ x").code()).isEqualTo(2);
    assertThat(regressed("gen:cells2d5", "--formula", "y ~ x").err()).contains("a data file is");
  }
}
