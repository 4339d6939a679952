/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A main class in a JVM of its own, with this JVM's class path and its access to Java's parts. */
public final class OwnJvm {

  private OwnJvm() {}

  /**
   * Runs it in a folder, and requires that it ends well.
   *
   * @param options of the JVM
   * @return the lines of both of its streams
   */
  public static List<String> run(
      Path folder, Duration limit, List<String> options, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.startsWith("--add-opens") || flag.startsWith("-XX:+Ignore")) {
        command.add(flag);
      }
    }
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Path printed = folder.resolve("out");
    Process p =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    try {
      assertThat(p.waitFor(limit.toSeconds(), TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      p.destroyForcibly();
    }
    List<String> lines = Files.readAllLines(printed);
    assertThat(p.exitValue()).as(String.join("\n", lines)).isZero();
    return lines;
  }
}
