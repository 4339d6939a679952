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
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The kernels' arithmetic without a device: the headers of {@code src/main/cuda}, compiled for this
 * machine (src/test/cuda/factorize_search.cu), on tiles made to break them and on tiles that once
 * went wrong. Skipped where there is no C++ compiler. More tiles, other seeds:
 * -Dsparqr.test.tiles=1000000 -Dtest.seed=2.
 */
class KernelArithmeticTest {

  private static final Path TESTS = Path.of("src/test/cuda").toAbsolutePath();
  private static final Path HEADERS = Path.of("src/main/cuda/include").toAbsolutePath();

  /** Tiles of nug20 whose G was not eliminated where products of four norms vanished. */
  private static final String ONCE_WRONG = TESTS.resolve("tiles/nug20-nd.txt").toString();

  @TempDir private Path folder;

  @Test
  void noTileOfTheSearchIsFactorizedWrongly() throws Exception {
    Path program = compile(HEADERS);
    String tiles = System.getProperty("sparqr.test.tiles", "4000");
    String seed = System.getProperty("test.seed", "1");
    Run run = run(List.of(program.toString(), tiles, seed, ONCE_WRONG));
    assertThat(run.output).contains("0 wrong of " + (Long.parseLong(tiles) + 3));
    assertThat(run.exit).as(run.output).isZero();
    // every way has had its share
    for (String way : List.of("Cholesky QR", "reflectors", "R alone", "small fronts")) {
      var count = Pattern.compile(Pattern.quote(way) + ": (\\d+) tiles").matcher(run.output);
      assertThat(count.find()).as(run.output).isTrue();
      assertThat(Long.parseLong(count.group(1))).isGreaterThan(Long.parseLong(tiles) / 20);
    }
  }

  /** What the kernels did before G was scaled and E was tested: the tiles show it. */
  @Test
  void tilesThatOnceWentWrongStillShowIt() throws Exception {
    Path old = Files.createDirectory(folder.resolve("unscaled"));
    try (var files = Files.list(HEADERS)) {
      for (Path f : (Iterable<Path>) files::iterator) {
        Files.copy(f, old.resolve(f.getFileName()));
      }
    }
    plant(old, "power_of_two(-half)", "power_of_two(0 * half)");
    Run found = run(List.of(compile(old).toString(), "0", "1", ONCE_WRONG));
    // |E| alone refuses all of them ...
    assertThat(found.output).contains("0 wrong of 3").contains("Cholesky QR: 0 tiles");
    plant(old, "CHOLESKY_DEFECT = 0x1p-32", "CHOLESKY_DEFECT = 0x1p1000");
    Run wrong = run(List.of(compile(old).toString(), "0", "1", ONCE_WRONG));
    // ... and without it they are wrong in the fourth digit
    assertThat(wrong.output).contains("3 wrong of 3");
    assertThat(wrong.exit).isEqualTo(1);
  }

  private static void plant(Path headers, String what, String instead) throws IOException {
    Path file = headers.resolve("cholesky_qr.cuh");
    String text = Files.readString(file);
    assertThat(text).contains(what);
    Files.writeString(file, text.replace(what, instead));
  }

  private Path compile(Path headers) throws Exception {
    Path program = Files.createTempFile(folder, "search", "");
    var command = new ArrayList<String>();
    command.add(compiler());
    command.addAll(
        List.of("-x", "c++", "-std=c++17", "-O1", "-march=native", "-fopenmp", "-DSPARQR_HOST"));
    command.addAll(List.of("-w", "-I", TESTS.resolve("host").toString(), "-I", headers.toString()));
    command.addAll(List.of("-o", program.toString()));
    command.add(TESTS.resolve("factorize_search.cu").toString());
    Run run = run(command);
    assertThat(run.exit).as(run.output).isZero();
    return program;
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

  private record Run(int exit, String output) {}

  private static Run run(List<String> command) throws Exception {
    Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(p.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return new Run(p.exitValue(), output);
  }
}
