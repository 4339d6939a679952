/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.Sampling;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  private static final Path TESTS = HostKernels.TESTS;
  private static final Path HEADERS = HostKernels.HEADERS;

  /** Tiles of nug20 whose G was not eliminated where products of four norms vanished. */
  private static final String ONCE_WRONG = TESTS.resolve("tiles/nug20-nd.txt").toString();

  @TempDir private Path folder;

  @Sampled(oneIn = 3)
  @Test
  void noTileOfTheSearchIsFactorizedWrongly() throws Exception {
    Path program = compile(HEADERS);
    String tiles = System.getProperty("sparqr.test.tiles", "" + Sampling.count(4000));
    String seed = System.getProperty("test.seed", "1");
    HostKernels.Run run = run(List.of(program.toString(), tiles, seed, ONCE_WRONG));
    assertThat(run.output()).contains("0 wrong of " + (Long.parseLong(tiles) + 3));
    assertThat(run.exit()).as(run.output()).isZero();
    // every method was used
    for (String way : List.of("Cholesky QR", "reflectors", "R alone", "small fronts")) {
      var count = Pattern.compile(Pattern.quote(way) + ": (\\d+) tiles").matcher(run.output());
      assertThat(count.find()).as(run.output()).isTrue();
      assertThat(Long.parseLong(count.group(1))).isGreaterThan(Long.parseLong(tiles) / 20);
    }
  }

  /** Without the scaling of G and the test of E the tiles are wrong, as they once were. */
  @Test
  void tilesThatOnceWentWrongStillShowIt() throws Exception {
    Path old = Files.createDirectory(folder.resolve("unscaled"));
    try (var files = Files.list(HEADERS)) {
      for (Path f : (Iterable<Path>) files::iterator) {
        Files.copy(f, old.resolve(f.getFileName()));
      }
    }
    plant(old, "power_of_two(-half)", "power_of_two(0 * half)");
    HostKernels.Run found = run(List.of(compile(old).toString(), "0", "1", ONCE_WRONG));
    // |E| alone refuses all of them ...
    assertThat(found.output()).contains("0 wrong of 3").contains("Cholesky QR: 0 tiles");
    plant(old, "CHOLESKY_DEFECT = 0x1p-32", "CHOLESKY_DEFECT = 0x1p1000");
    HostKernels.Run wrong = run(List.of(compile(old).toString(), "0", "1", ONCE_WRONG));
    // ... and without it they are wrong in the fourth digit
    assertThat(wrong.output()).contains("3 wrong of 3");
    assertThat(wrong.exit()).isEqualTo(1);
  }

  private static void plant(Path headers, String what, String instead) throws IOException {
    Path file = headers.resolve("cholesky_qr.cuh");
    String text = Files.readString(file);
    assertThat(text).contains(what);
    Files.writeString(file, text.replace(what, instead));
  }

  private Path compile(Path headers) throws Exception {
    return HostKernels.compile(folder, headers, "factorize_search.cu");
  }

  private static HostKernels.Run run(List<String> command) throws Exception {
    return HostKernels.run(command.toArray(String[]::new));
  }
}
