/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.Sampling;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The kernels' DROP tasks on this machine (src/test/cuda/drop_search.cu): pairs of fronts with dead
 * columns anywhere, and rows that the child sends up. Skipped where there is no C++ compiler. More
 * pairs, other seeds: -Dsparqr.test.pairs=3000 -Dtest.seed=2.
 */
class DropArithmeticTest {

  private static final String PROGRAM = "drop_search.cu";

  @TempDir private Path folder;

  @Sampled(oneIn = 3)
  @Test
  void noPairOfTheSearchLosesMoreThanItsDeadColumns() throws Exception {
    Path program = HostKernels.compile(folder, HostKernels.HEADERS, PROGRAM);
    String pairs = System.getProperty("sparqr.test.pairs", "40");
    String seed = System.getProperty("test.seed", "1");
    HostKernels.Run run = HostKernels.run(program.toString(), pairs, seed);
    assertThat(run.output()).contains("0 wrong of " + pairs);
    assertThat(run.exit()).as(run.output()).isZero();
  }

  /** Errors that the search has to find: what of the headers, and what instead. */
  static Stream<Arguments> errors() {
    return Sampling.of(
        List.of(
            Arguments.of("orthogonal[i] = t.q[source][column]", "orthogonal[i] = t.q[row][column]"),
            Arguments.of("drop.word[DROP_LEFT] = at + count", "drop.word[DROP_LEFT] = at"),
            Arguments.of("front.rhs + k] = s", "front.rhs + k] = 0"),
            Arguments.of("gone ? 0.0 : sum", "sum"),
            Arguments.of("stop < of.panels ? 32 * stop : of.rows", "of.rows")));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void plantedErrorsAreFound(String what, String instead) throws Exception {
    Path headers = Files.createDirectory(folder.resolve("planted"));
    try (var files = Files.list(HostKernels.HEADERS)) {
      for (Path f : (Iterable<Path>) files::iterator) {
        Files.copy(f, headers.resolve(f.getFileName()));
      }
    }
    int changed = 0;
    for (String header : List.of("drop.cuh", "drop_rows.cuh")) {
      Path file = headers.resolve(header);
      String text = Files.readString(file);
      changed += text.contains(what) ? 1 : 0;
      Files.writeString(file, text.replace(what, instead));
    }
    assertThat(changed).as("headers with what is changed").isEqualTo(1);
    Path program = HostKernels.compile(folder, headers, PROGRAM);
    HostKernels.Run run = HostKernels.run(program.toString(), "30", "1");
    assertThat(run.exit()).as(run.output()).isEqualTo(1);
  }
}
