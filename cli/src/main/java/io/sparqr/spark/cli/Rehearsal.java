/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the code paths shared by most commands, so that Java can record their classes: {@code
 * bin/sparqr} runs it once after a build, with {@code -XX:ArchiveClassesAtExit}, and then runs
 * every command with that archive. From Java 25 on with {@code -XX:AOTCacheOutput} and the argument
 * {@code profiles}: Java then records which methods are hot, too, so solves are made until they
 * are.
 */
final class Rehearsal {

  private static final String MATRIX =
      """
      %%MatrixMarket matrix coordinate real general
      4 3 6
      1 1 1
      2 1 2
      2 2 3
      3 2 4
      3 3 5
      4 3 6
      """;

  private Rehearsal() {}

  /** Exits with 1 if a command failed. */
  public static void main(String[] args) throws IOException {
    SparqrCli.quiet(args);
    // not inside, since nothing comes after System.exit: no folder would be deleted
    System.exit(failed(List.of(args).contains("profiles")) == 0 ? 0 : ExitCode.FAILED);
  }

  /** The sum of the commands' exit codes. */
  private static int failed(boolean profiles) throws IOException {
    Path folder = Files.createTempDirectory("sparqr-rehearsal");
    Path matrix = folder.resolve("a.mtx");
    Path x = folder.resolve("x.mtx");
    Path report = folder.resolve("report.json");
    try {
      Files.writeString(matrix, MATRIX);
      String[] files = {"--out", x.toString(), "--report", report.toString(), "--overwrite"};
      String file = matrix.toString();
      return run("solve", "--matrix", "gen:cells2d20", "--check")
          + run("solve", "--matrix", file, files[0], files[1], files[2], files[3], files[4])
          + run("analyze", "--matrix", file)
          + run("solve", "--matrix", "gen:onehot2000x50x20", "--check", "--engine", "spark")
          + (profiles ? hot() : 0);
    } finally {
      for (Path p : new Path[] {matrix, x, report, folder}) {
        Files.deleteIfExists(p);
      }
    }
  }

  private static int hot() {
    return run("solve", "--matrix", "gen:cells3d20", "--repeat", "8")
        + run("solve", "--matrix", "gen:grad3d15", "--ordering", "nd", "--repeat", "8")
        // a solid's separators
        + run("solve", "--matrix", "gen:cells3d28", "--repeat", "3")
        + run("solve", "--matrix", "gen:onehot20000x500x50", "--repeat", "8");
  }

  private static int run(String... args) {
    var none = new PrintWriter(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    return SparqrCli.execute(none, none, args);
  }
}
