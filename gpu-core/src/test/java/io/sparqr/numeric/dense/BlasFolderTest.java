/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.numeric.LocalSolver;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Where the native libraries are put, and what is said if they cannot be loaded. A process without
 * a home folder, as in many containers, loads nothing from /tmp.
 */
@EnabledOnOs(OS.LINUX)
class BlasFolderTest {

  @TempDir Path folder;

  /** A folder from which native code may be run, and one that a test may forbid it in. */
  private Path temporary;

  private Path forbidden;
  private boolean mounted;

  /** The BLAS that a process reports, and the warnings of a factorization. */
  static final class Main {
    private Main() {}

    public static void main(String[] args) {
      System.out.println("BLAS " + BlasLoader.kernels().description());
      var a = new CsrMatrix(2, 1, new int[] {0, 1, 2}, new int[] {0, 0}, new double[] {3, 4});
      try (var cpu = new CpuSubtreeFactorizer()) {
        new LocalSolver(cpu, SymbolicOptions.defaults(), 1)
            .solve(a, new double[] {1, 1}, 1)
            .factorization()
            .summary()
            .warnings()
            .forEach(w -> System.out.println("warning " + w));
      }
    }
  }

  @BeforeEach
  void make() throws IOException {
    temporary = Files.createDirectory(folder.resolve("temporary"));
    forbidden = Files.createDirectory(folder.resolve("forbidden"));
  }

  @AfterEach
  void unmount() throws Exception {
    if (mounted) {
      run("umount", forbidden.toString());
    }
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  private void forbid() throws Exception {
    mounted =
        Files.isExecutable(Path.of("/usr/bin/mount"))
            && run("mount", "-t", "tmpfs", "-o", "noexec,size=64m", "tmpfs", forbidden + "") == 0;
    assumeTrue(mounted, "no right to mount");
  }

  private List<String> start(String first, Path home, Path temporaries, String... options)
      throws Exception {
    return start(Map.of(), first, home, temporaries, options);
  }

  private List<String> start(
      Map<String, String> variables, String first, Path home, Path temporaries, String... options)
      throws Exception {
    Stream<String> command =
        Stream.of(
                Stream.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()),
                Stream.of("-Duser.home=" + home, "-Djava.io.tmpdir=" + temporaries),
                Stream.of(options),
                Stream.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"),
                Stream.of(first + System.getProperty("java.class.path"), Main.class.getName()))
            .flatMap(s -> s);
    var builder =
        new ProcessBuilder(command.toList()).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().putAll(variables);
    Process p = builder.start();
    String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(p.waitFor()).as(said).isZero();
    return said.lines().filter(l -> l.startsWith("BLAS ") || l.startsWith("warning ")).toList();
  }

  private List<String> start(String... options) throws Exception {
    return start("", Path.of("/dev/null"), temporary, options);
  }

  private static void requireOpenBlas(List<String> said) {
    assertThat(said).singleElement().asString().startsWith("BLAS OpenBLAS ");
  }

  private static List<String> made(Path in) throws Exception {
    try (Stream<Path> files = Files.list(in)) {
      return files
          .map(f -> f.getFileName().toString())
          .filter(f -> !f.startsWith("hsperfdata"))
          .sorted()
          .toList();
    }
  }

  private static String own() {
    return "sparqr-" + System.getProperty("user.name");
  }

  @Test
  void withoutAHomeOpenBlasIsUnpackedInTheUsersOwnFolder() throws Exception {
    requireOpenBlas(start());
    assertThat(made(temporary)).containsExactly(own());
    assertThat(temporary.resolve(own()).resolve("javacpp")).isNotEmptyDirectory();
  }

  /** So has a user whom the system does not know. */
  @Test
  void aHomeOfNoNameIsNoFolderOfTheWorkingDirectory() throws Exception {
    requireOpenBlas(start("", Path.of("?"), temporary, "-Duser.name=?"));
    assertThat(made(temporary)).containsExactly("sparqr-_");
    assertThat(made(folder)).containsExactly("forbidden", "temporary");
  }

  @Test
  void whereThatFolderIsNotTheUsersOwnNothingNativeIsLoaded() throws Exception {
    Path link = temporary.resolve("sparqr-link");
    Files.createSymbolicLink(link, Files.createDirectory(temporary.resolve("theirs")));
    List<String> said = start("-Dsparqr.native.folder=" + link);
    assertThat(said.get(0)).contains("pure Java BLAS").contains("is a symbolic link of ");
    assertThat(said.get(1))
        .startsWith("warning pure Java BLAS, about three times slower: ")
        .contains("is a symbolic link of ");
    assertThat(temporary.resolve("theirs")).isEmptyDirectory();
  }

  @Test
  void oneFolderMayBeNamedForAllOfThem() throws Exception {
    Path named = folder.resolve("named");
    Path home = Files.createDirectory(folder.resolve("home"));
    requireOpenBlas(start("", home, temporary, "-Dsparqr.native.folder=" + named));
    assertThat(made(named)).containsExactly("javacpp");
    assertThat(made(home)).isEmpty();
    assertThat(made(temporary)).isEmpty();
  }

  @Test
  void aHomeOrTemporaryFolderMountedNoexecIsPassedOver() throws Exception {
    forbid();
    Path home = Files.createDirectory(folder.resolve("home"));
    requireOpenBlas(start("", forbidden, temporary));
    assertThat(made(temporary)).containsExactly(own());
    requireOpenBlas(start("", home, forbidden));
    assertThat(made(home.resolve(".cache"))).containsExactly("sparqr");
    requireOpenBlas(
        start("", forbidden, forbidden, "-Dsparqr.native.folder=" + folder.resolve("named")));
  }

  @Test
  void ifBothAreTheWarningNamesTheRemedy() throws Exception {
    forbid();
    List<String> said = start("", forbidden, forbidden);
    assertThat(said).hasSize(2);
    assertThat(said.get(0)).startsWith("BLAS pure Java BLAS (");
    assertThat(said.get(1))
        .startsWith("warning pure Java BLAS, about three times slower: no native BLAS: ")
        .contains(forbidden.toString(), "mounted noexec", "sparqr.native.folder");
  }

  @Test
  void anotherJavaCppOnTheClassPathIsNamed() throws Exception {
    Path other = folder.resolve("other");
    Path properties = other.resolve("META-INF/maven/org.bytedeco/javacpp/pom.properties");
    Files.createDirectories(properties.getParent());
    Files.writeString(properties, "version=1.2\n");
    Path loader = other.resolve("org/bytedeco/javacpp/Loader.java");
    Files.createDirectories(loader.getParent());
    Files.writeString(loader, "package org.bytedeco.javacpp; public class Loader {}");
    assertThat(
            javax.tools.ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", loader.toString()))
        .isZero();
    List<String> said = start(other + java.io.File.pathSeparator, folder, temporary);
    assertThat(said).hasSize(2);
    assertThat(said.get(1))
        .startsWith("warning pure Java BLAS, about three times slower: ")
        .contains("JavaCPP 1.2 and 1.5.", "OpenBLAS 0.3.", "needs 1.5.");
  }

  /** OpenBLAS would end the JVM with the first instruction that the processor does not have. */
  @Test
  void aCoreTypeThatTheProcessorIsNotOfIsPassedOver() throws Exception {
    Optional<String> type =
        Stream.of("SAPPHIRERAPIDS", "SKYLAKEX")
            .filter(t -> CoreType.unfit(t).isPresent())
            .findAny();
    assumeTrue(type.isPresent(), "this processor is of all core types, or does not say");
    Map<String, String> variables = Map.of(CoreType.VARIABLE, type.orElseThrow());
    List<String> said = start(variables, "", folder, temporary);
    assertThat(said).hasSize(2);
    assertThat(said.get(1))
        .startsWith("warning pure Java BLAS, about three times slower: ")
        .contains("=" + type.orElseThrow(), "but this processor has no ");
  }

  @Test
  void noWarningWherePureJavaWasAskedFor() throws Exception {
    assertThat(start("-Dsparqr.blas=java"))
        .singleElement()
        .asString()
        .startsWith("BLAS pure Java BLAS (asked for by ");
  }

  @Test
  void kernelsOfOtherBitsHaveOtherDigits() {
    DenseKernels java = BlasLoader.javaKernels("for comparison");
    DenseKernels fast = BlasLoader.kernels();
    assertThat(KernelBits.of(fast)).isEqualTo(KernelBits.of(fast));
    assertThat(fast.description()).endsWith(", kernels " + KernelBits.of(fast));
    assertThat(KernelBits.of(java)).isNotEqualTo(KernelBits.of(fast));
  }
}
