/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Compiles programs of src/test/cuda with the kernels' headers for this machine, and runs them. */
final class HostKernels {

  static final Path TESTS = Path.of("src/test/cuda").toAbsolutePath();
  static final Path HEADERS = Path.of("src/main/cuda/include").toAbsolutePath();

  private HostKernels() {}

  /** A program's output and its exit code. */
  record Run(int exit, String output) {}

  /** A program, compiled with these headers. */
  static Path compile(Path folder, Path headers, String source) throws Exception {
    Path program = Files.createTempFile(folder, "search", "");
    var command = new ArrayList<String>();
    command.add(compiler());
    command.addAll(
        List.of("-x", "c++", "-std=c++17", "-O1", "-march=native", "-fopenmp", "-DSPARQR_HOST"));
    command.addAll(List.of("-w", "-I", TESTS.resolve("host").toString(), "-I", headers.toString()));
    command.addAll(List.of("-o", program.toString()));
    command.add(TESTS.resolve(source).toString());
    Run run = run(command.toArray(String[]::new));
    assertThat(run.exit).as(run.output).isZero();
    return program;
  }

  /** A copy of all headers, one of them with something instead of what it has. */
  static Path planted(Path folder, String header, String what, @Nullable String instead)
      throws IOException {
    Path headers = Files.createDirectory(folder.resolve("planted"));
    try (var files = Files.walk(HEADERS)) {
      for (Path f : (Iterable<Path>) files.skip(1)::iterator) {
        Files.copy(f, headers.resolve(HEADERS.relativize(f)));
      }
    }
    Path file = headers.resolve(header);
    String text = Files.readString(file);
    assertThat(text).contains(what);
    Files.writeString(file, text.replace(what, instead == null ? "" : instead));
    return headers;
  }

  private static String compiler() {
    for (String name : List.of("g++", "c++")) {
      for (String folder : System.getenv("PATH").split(":")) {
        if (Files.isExecutable(Path.of(folder, name))) {
          return name;
        }
      }
    }
    assumeTrue(false, "no C++ compiler here: the kernels' arithmetic is not tested");
    throw new AssertionError();
  }

  /** Runs a command. */
  static Run run(String... command) throws Exception {
    Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(p.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return new Run(p.exitValue(), output);
  }
}
