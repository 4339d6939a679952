/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOptions;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The effect of the words of {@code sparqr solve} on the solver's options. */
class SolveOptionsTest {

  private static final int COLUMNS = 9;

  private static SolveOptions of(String... words) {
    var command = new SolveCommand();
    String[] all =
        Stream.concat(Stream.of("--matrix", "a.mtx"), Arrays.stream(words)).toArray(String[]::new);
    new CommandLine(command).parseArgs(all);
    return command.solver(COLUMNS).options();
  }

  /** An option of the command line, and a text for a value other than the default. */
  private record Sample(SolveOption<?> option, String value) {

    static Sample of(SolveOption<?> option) {
      if (option.type().isFlag()) {
        return new Sample(
            option, option.defaultValue().orElseThrow().equals("true") ? "false" : "true");
      }
      List<String> words = option.type().words();
      return new Sample(
          option,
          words.isEmpty()
              ? option.type().javaClass() == Double.class ? "0.25" : "3"
              : words.get(words.size() - 1));
    }

    /** The words of the command line. */
    String words() {
      String word = option.word().orElseThrow();
      return option == SolveOption.PROFILE
          ? word + " run.html"
          : option.type().isFlag() ? word : word + " " + value;
    }

    GpuSparseQR.Builder set(GpuSparseQR.Builder builder) {
      return builder.option(option.name(), value);
    }
  }

  private static List<Sample> samples() {
    return SolveOption.of(SolveOption.Way.COMMAND_LINE).stream().map(Sample::of).toList();
  }

  /** Options for input, output and display. */
  private static final List<String> OTHERS =
      List.of(
          "--matrix",
          "--index-base",
          "--variable",
          "--transpose",
          "--master",
          "--verbose",
          "--rhs",
          "--reader",
          "--engine",
          "--out",
          "--repeat",
          "--criteria",
          "--overwrite",
          "--help",
          "--version");

  private static String text(SolveOptions o) {
    // an array prints as its address
    return o.toString().replaceAll("\\[I@[0-9a-f]+", "[]");
  }

  private static GpuSparseQR.Builder defaults() {
    return GpuSparseQR.builder().columns(COLUMNS);
  }

  @ParameterizedTest
  @MethodSource("samples")
  void changesItsOptionAndNoOther(Sample sample) {
    String expected = text(sample.set(defaults()).build().options());
    assertThat(expected).isNotEqualTo(text(defaults().build().options()));
    assertThat(text(of(sample.words().split(" ")))).isEqualTo(expected);
  }

  @Test
  void aNegativeNumberIsAValue() {
    assertThat(text(of("--rank-tolerance", "-1")))
        .isEqualTo(text(defaults().rankTolerance(-1).build().options()));
  }

  /** Spelled unlike the builder's methods; accepted until 1.0. */
  @ParameterizedTest
  @CsvSource({"--tolerance 0.25, --rank-tolerance 0.25", "--refine 3, --refinement 3"})
  void earlierWordsMeanTheSame(String earlier, String words) {
    assertThat(text(of(earlier.split(" ")))).isEqualTo(text(of(words.split(" "))));
  }

  @Test
  void withoutWordsTheBuildersDefaultsHold() {
    assertThat(text(of())).isEqualTo(text(defaults().build().options()));
  }

  @Test
  void everyWordIsOneOfThem() {
    List<OptionSpec> options = new CommandLine(new SolveCommand()).getCommandSpec().options();
    List<String> declared =
        samples().stream().flatMap(sample -> sample.option().word().stream()).toList();
    assertThat(options.stream().filter(o -> !o.hidden()).map(OptionSpec::longestName))
        .containsExactlyInAnyOrderElementsOf(
            Stream.concat(OTHERS.stream(), declared.stream()).distinct().toList());
    assertThat(options.stream().filter(OptionSpec::hidden).map(OptionSpec::longestName))
        .containsExactlyInAnyOrderElementsOf(
            samples().stream().flatMap(s -> s.option().formerWords().stream()).toList());
  }

  /** Names, meanings and defaults of the help are those declared. */
  @Test
  void theHelpSaysWhatIsDeclared() {
    for (Object command : List.of(new SolveCommand(), new RegressCommand(), new AnalyzeCommand())) {
      CommandSpec spec = new CommandLine(command).getCommandSpec();
      List<OptionSpec> found =
          samples().stream()
              .flatMap(
                  sample ->
                      Stream.ofNullable(spec.findOption(sample.option().word().orElseThrow())))
              .filter(o -> !o.longestName().equals("--report"))
              .toList();
      assertThat(found).hasSizeGreaterThan(2);
      for (OptionSpec o : found) {
        SolveOption<?> option =
            samples().stream()
                .map(Sample::option)
                .filter(s -> s.word().orElseThrow().equals(o.longestName()))
                .findFirst()
                .orElseThrow();
        String help = String.join("", o.description());
        assertThat(help).contains(option.summary().replace("`", ""));
        if (!option.type().isFlag()) {
          assertThat(help)
              .endsWith(
                  option.type().words().isEmpty()
                      ? option.defaultText().replace("`", "")
                      : option.defaultValue().orElseThrow());
        }
      }
    }
  }
}
