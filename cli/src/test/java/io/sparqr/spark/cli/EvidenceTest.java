/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * What docs/design/testing.md says of the kernels on a device is as old as the kernels: each of its
 * logs ({@code benchmarks/gpu/evidence.sh}) has the hash of today's sources at its head. Needs no
 * git history.
 */
class EvidenceTest {

  private static final Path ROOT = Markdown.ROOT;
  private static final Path PAGE = ROOT.resolve("docs/design/testing.md");

  /** The logs that there have to be. */
  private static final List<String> KINDS =
      List.of(
          "sanitizer-memcheck",
          "sanitizer-initcheck",
          "sanitizer-synccheck",
          "sanitizer-racecheck",
          "faults",
          "survey");

  /** A link to a log in a table: its file, its kind, and k and n if it is a part of several. */
  private static final Pattern LOG =
      Pattern.compile(
          "\\(([^()\\s]*/\\d{4}-\\d\\d-\\d\\d-\\w+-(%s)(?:-(\\d+)of(\\d+))?\\.txt)\\)"
              .formatted(String.join("|", KINDS)));

  /** A row without a log: its kind, and why. */
  private static final Pattern OWED =
      Pattern.compile("\\| OWED-(%s): ([^|]+?) \\|".formatted(String.join("|", KINDS)));

  private static final Pattern TAGGED = Pattern.compile("(?m)^@Tag\\(\"gpu\"\\)$");

  /** The hash of today's sources. */
  private static String today() throws IOException, InterruptedException {
    var process =
        new ProcessBuilder("bash", ROOT.resolve("gpu-core/src/main/cuda/fingerprint.sh").toString())
            .redirectErrorStream(true)
            .start();
    String hash = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(hash).isZero();
    return hash.strip();
  }

  /** What is wrong with the logs that a page links to. */
  private static List<String> wrong(Path page, String hash) throws IOException {
    var wrong = new ArrayList<String>();
    Map<String, TreeSet<Integer>> parts = new TreeMap<>();
    Map<String, Integer> whole = new TreeMap<>();
    String rows =
        Files.readAllLines(page).stream()
            .filter(line -> line.startsWith("|"))
            .collect(Collectors.joining());
    Matcher link = LOG.matcher(rows);
    while (link.find()) {
      Path log = page.resolveSibling(link.group(1)).normalize();
      int of = link.group(4) == null ? 1 : Integer.parseInt(link.group(4));
      parts
          .computeIfAbsent(link.group(2), kind -> new TreeSet<>())
          .add(of == 1 ? 1 : Integer.parseInt(link.group(3)));
      whole.merge(link.group(2), of, Math::max);
      List<String> lines = Files.readAllLines(log);
      if (!lines.contains("kernels: " + hash)) {
        wrong.add(log.getFileName() + " is older than the kernels, whose hash is now " + hash);
      }
      if (!lines.get(lines.size() - 1).equals("verdict: passed")) {
        wrong.add(log.getFileName() + " has not passed");
      }
    }
    for (String kind : KINDS) {
      if (!parts.containsKey(kind) || parts.get(kind).size() != whole.get(kind)) {
        wrong.add("no whole log of " + kind);
      }
    }
    return wrong;
  }

  /** The kinds whose rows say that their log is owed, with the reason. */
  private static Map<String, String> owed(Path page) throws IOException {
    Map<String, String> owed = new TreeMap<>();
    for (String line : Files.readAllLines(page)) {
      Matcher row = OWED.matcher(line);
      if (row.find()) {
        owed.put(row.group(1), row.group(2));
      }
    }
    return owed;
  }

  @TestFactory
  Stream<DynamicTest> theLogsAreThoseOfTodaysKernels() throws Exception {
    List<String> wrong = wrong(PAGE, today());
    Map<String, String> owed = owed(PAGE);
    return KINDS.stream()
        .map(
            kind ->
                DynamicTest.dynamicTest(
                    kind,
                    () -> {
                      assumeFalse(owed.containsKey(kind), () -> "owed: " + owed.get(kind));
                      assertThat(wrong)
                          .as("on a GPU host: benchmarks/gpu/evidence.sh %s", kind)
                          .noneMatch(w -> w.contains(kind));
                    }));
  }

  @Test
  void aRowThatOwesItsLogSaysWhy(@TempDir Path folder) throws Exception {
    Path page = folder.resolve("page.md");
    Files.writeString(
        page, "| race | OWED-sanitizer-racecheck: no eight GPUs | `x` |\n| f | OWED-faults: | |\n");
    assertThat(owed(page)).containsExactly(Map.entry("sanitizer-racecheck", "no eight GPUs"));
  }

  @Test
  void anOldOneAFailedOneAndAMissingOneAreSeen(@TempDir Path folder) throws Exception {
    var page = new StringBuilder();
    for (String kind : KINDS) {
      List<String> names =
          kind.endsWith("racecheck") ? List.of(kind + "-1of2", kind + "-2of2") : List.of(kind);
      for (String name : names) {
        String file = "logs/2026-11-27-h100-%s.txt".formatted(name);
        write(folder.resolve(file), "kernels: now", "verdict: passed");
        page.append("| [log](").append(file).append(") |\n");
      }
    }
    Path index = folder.resolve("page.md");
    Files.writeString(index, page);
    assertThat(wrong(index, "now")).isEmpty();
    assertThat(wrong(index, "later")).hasSize(7).allMatch(w -> w.contains("older"));
    write(folder.resolve("logs/2026-11-27-h100-faults.txt"), "kernels: now", "verdict: FAILED");
    assertThat(wrong(index, "now")).containsExactly("2026-11-27-h100-faults.txt has not passed");
    Files.writeString(index, page.toString().replaceFirst(".*racecheck-2of2.*\n", ""));
    assertThat(wrong(index, "now")).contains("no whole log of sanitizer-racecheck");
    Files.writeString(index, page.toString().replaceFirst(".*survey.*\n", ""));
    assertThat(wrong(index, "now")).contains("no whole log of survey");
  }

  private static void write(Path file, String head, String end) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, List.of("date: 2026-11-27T15:00:00Z", head, "", end));
  }

  @Test
  void commentsAndLayoutDoNotCountAndCodeDoes(@TempDir Path folder) throws Exception {
    Path script = ROOT.resolve("gpu-core/src/main/cuda/fingerprint.sh");
    Path copy = Files.copy(script, folder.resolve("fingerprint.sh"));
    Path kernel = folder.resolve("kernels/k.cu");
    write(folder.resolve("include/h.cuh"), "#pragma once", "");
    var hashes = new ArrayList<String>();
    for (String text :
        List.of("int a = 1;\n", "/* one\n * two */\nint  a =\n  1;  // three\n", "int a = 2;\n")) {
      Files.createDirectories(kernel.getParent());
      Files.writeString(kernel, text);
      var process = new ProcessBuilder("bash", copy.toString()).start();
      hashes.add(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      assertThat(process.waitFor()).isZero();
    }
    assertThat(hashes.get(0)).isEqualTo(hashes.get(1)).isNotEqualTo(hashes.get(2));
  }

  @Test
  void theSanitizersGetAllTestsOfTheDevice() throws IOException {
    String script = Files.readString(ROOT.resolve("benchmarks/gpu/sanitize.sh"));
    var tagged = new TreeSet<String>();
    try (var files = Files.walk(ROOT.resolve("gpu-core/src/test/java"))) {
      for (Path file :
          (Iterable<Path>) files.filter(f -> f.toString().endsWith(".java"))::iterator) {
        if (TAGGED.matcher(Files.readString(file)).find()) {
          tagged.add(file.getFileName().toString().replace(".java", ""));
        }
      }
    }
    assertThat(tagged).hasSizeGreaterThan(10).allMatch(script::contains);
  }
}
