/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOptions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
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

  /** The solver's options that a word changes, and how: each word of the table, and no other. */
  private static Map<String, UnaryOperator<GpuSparseQR.Builder>> solving() {
    var all = new HashMap<String, UnaryOperator<GpuSparseQR.Builder>>();
    all.put("--ordering nd", b -> b.ordering(OrderingMethod.NESTED_DISSECTION));
    all.put("--backend cuda", b -> b.backend(BackendChoice.REQUIRE_CUDA));
    all.put("--rank-tolerance 0.25", b -> b.rankTolerance(0.25));
    all.put("--rank-tolerance -1", b -> b.rankTolerance(-1));
    all.put("--ridge 0.5", b -> b.ridge(0.5));
    all.put("--refinement 3", b -> b.refinement(3));
    all.put("--minimum-norm", b -> b.minimumNorm(true));
    all.put("--no-equilibrate", b -> b.equilibrate(false));
    all.put("--check", b -> b.check(true));
    all.put("--min-rcond 1e-7", b -> b.minRcond(1e-7));
    all.put("--executors 4", b -> b.executors(4));
    all.put("--minimum-executors 3", b -> b.minimumExecutors(3));
    all.put("--executor-wait 2.5", b -> b.executorWait(2.5));
    all.put("--report run.html", b -> b.profile(true));
    all.put("--partitions 5", b -> b.partitions(5));
    return all;
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

  private static Stream<String> words() {
    return solving().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("words")
  void changesItsOptionAndNoOther(String words) {
    String expected = text(solving().get(words).apply(defaults()).build().options());
    assertThat(expected).isNotEqualTo(text(defaults().build().options()));
    assertThat(text(of(words.split(" ")))).isEqualTo(expected);
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
    List<String> names =
        new CommandLine(new SolveCommand())
            .getCommandSpec().options().stream().map(OptionSpec::longestName).toList();
    List<String> tried = solving().keySet().stream().map(w -> w.split(" ")[0]).distinct().toList();
    List<String> known =
        Stream.concat(OTHERS.stream(), tried.stream()).collect(Collectors.toList());
    assertThat(names).containsExactlyInAnyOrderElementsOf(known);
    assertThat(tried)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(SolveOption.values()).flatMap(o -> o.word().stream()).toList());
  }
}
