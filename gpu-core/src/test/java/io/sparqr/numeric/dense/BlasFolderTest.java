/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A process without a home folder, as in many containers, loads nothing from /tmp. */
@EnabledOnOs(OS.LINUX)
class BlasFolderTest {

  @TempDir Path temporary;

  /** The BLAS that a process reports. */
  static final class Main {
    private Main() {}

    public static void main(String[] args) {
      System.out.println(BlasLoader.kernels().description());
    }
  }

  private String start(String... options) throws Exception {
    Stream<String> command =
        Stream.of(
                Stream.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()),
                Stream.of("-Duser.home=/dev/null", "-Djava.io.tmpdir=" + temporary),
                Stream.of(options),
                Stream.of("-cp", System.getProperty("java.class.path"), Main.class.getName()))
            .flatMap(s -> s);
    Process p = new ProcessBuilder(command.toList()).redirectErrorStream(true).start();
    String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(p.waitFor()).as(said).isZero();
    return said;
  }

  private List<String> made() throws Exception {
    try (Stream<Path> files = Files.list(temporary)) {
      return files
          .map(f -> f.getFileName().toString())
          .filter(f -> f.contains("javacpp") || f.startsWith("sparqr"))
          .toList();
    }
  }

  @Test
  void withoutAHomeOpenBlasIsUnpackedInTheUsersOwnFolder() throws Exception {
    assertThat(start()).contains("OpenBLAS");
    String own = "sparqr-" + System.getProperty("user.name");
    assertThat(made()).containsExactly(own);
    assertThat(temporary.resolve(own).resolve("javacpp")).isNotEmptyDirectory();
  }

  @Test
  void whereThatFolderIsNotTheUsersOwnNothingNativeIsLoaded() throws Exception {
    Path link = temporary.resolve("sparqr-link");
    Files.createSymbolicLink(link, Files.createDirectory(temporary.resolve("theirs")));
    assertThat(start("-Dsparqr.native.folder=" + link))
        .contains("pure Java BLAS")
        .contains("is a symbolic link of ");
    assertThat(temporary.resolve("theirs")).isEmptyDirectory();
  }
}
