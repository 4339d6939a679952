/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
          "survey",
          "devices",
          "dense");

  /** A link to a log in a table: its file, and what it is of. */
  private static final Pattern LOG =
      Pattern.compile(
          "\\(([^()\\s]*/\\d{4}-\\d\\d-\\d\\d-\\w+-(sanitizer-[\\w-]+|faults|survey|devices|dense)\\.txt)\\)");

  /** What a sanitizer's log says of a job: the tool, the job, its exit code, and what was found. */
  private static final Pattern JOB =
      Pattern.compile("((mem|init|sync|race)check:.*) exit (\\d+), \\d+ s, (.*)");

  private static final String OLD = " is older than the kernels, whose hash is now ";

  /** The exit code of a job that ran out of its time, which says nothing about the kernels. */
  private static final String TIMED_OUT = "124";

  /** A row without a log: its kind, and why. */
  private static final Pattern OWED =
      Pattern.compile("\\| OWED-(%s): ([^|]+?) \\|".formatted(String.join("|", KINDS)));

  private static final Pattern TAGGED = Pattern.compile("(?m)^@Tag\\(\"gpu\"\\)$");

  /** The hash of today's sources. */
  private static String today() throws IOException, InterruptedException {
    return printed("gpu-core/src/main/cuda/fingerprint.sh").strip();
  }

  /** The same with what only several devices have. */
  private static String several() throws IOException, InterruptedException {
    return printed("gpu-core/src/main/cuda/fingerprint.sh", "several").strip();
  }

  /** The same with what dense matrices alone have. */
  private static String dense() throws IOException, InterruptedException {
    return printed("gpu-core/src/main/cuda/fingerprint.sh", "dense").strip();
  }

  /** The hashes that a log may have at its head. */
  private record Hashes(String one, String several, String dense) {

    String head(String kind) {
      return switch (kind) {
        case "devices" -> "several: " + several;
        case "dense" -> "dense: " + dense;
        default -> "kernels: " + one;
      };
    }
  }

  /** All jobs of the sanitizers. */
  private static List<String> jobs() throws IOException, InterruptedException {
    return printed("benchmarks/gpu/sanitize.sh", "list").lines().toList();
  }

  private static String printed(String script, String... arguments)
      throws IOException, InterruptedException {
    return printed(ROOT.resolve(script), arguments);
  }

  private static String printed(Path script, String... arguments)
      throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("bash", script.toString()));
    command.addAll(List.of(arguments));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    return out;
  }

  /** What is wrong with the logs that a page links to, each with its kind before it. */
  private static List<String> wrong(Path page, Hashes hashes, List<String> jobs)
      throws IOException {
    String hash = hashes.one;
    var wrong = new ArrayList<String>();
    var passed = new TreeSet<String>();
    String rows =
        Files.readAllLines(page).stream()
            .filter(line -> line.startsWith("|"))
            .collect(Collectors.joining());
    Matcher link = LOG.matcher(rows);
    while (link.find()) {
      Path log = page.resolveSibling(link.group(1)).normalize();
      List<String> lines = Files.readAllLines(log);
      String kind = link.group(2);
      boolean ofToday = lines.contains(hashes.head(kind));
      if (kind.startsWith("sanitizer")) {
        lines.forEach(line -> wrong.addAll(ofJob(log, line, ofToday ? "" : OLD + hash, passed)));
      } else if (!ofToday) {
        wrong.add(kind + ": " + log.getFileName() + OLD + hash);
      } else if (lines.get(lines.size() - 1).equals("verdict: passed")) {
        passed.add(kind);
      } else {
        wrong.add(kind + ": " + log.getFileName() + " has not passed");
      }
    }
    for (String kind : List.of("faults", "survey", "devices", "dense")) {
      if (!passed.contains(kind)) {
        wrong.add(kind + ": no log");
      }
    }
    for (String job : jobs) {
      if (!passed.contains(job)) {
        wrong.add("sanitizer-" + job + ": in no log");
      }
    }
    return wrong;
  }

  /**
   * What a line of a log tells: a job that has passed is added, what was found is returned.
   *
   * @param old what to say of the log if its kernels are not today's; otherwise empty
   */
  private static List<String> ofJob(Path log, String line, String old, Set<String> passed) {
    Matcher job = JOB.matcher(line);
    if (!job.matches()) {
      return List.of();
    }
    String name = "sanitizer-" + job.group(1) + ": ";
    if (!old.isEmpty()) {
      return List.of(name + log.getFileName() + old);
    }
    if (job.group(3).equals(TIMED_OUT)) {
      return List.of();
    }
    String found = job.group(4);
    boolean clean =
        found.contains(", 0 failed, ")
            && (found.contains(" 0 errors") || found.contains(" 0 hazards displayed"));
    if (!job.group(3).equals("0") || !clean) {
      return List.of(name + found + " in " + log.getFileName());
    }
    passed.add(job.group(1));
    return List.of();
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
    List<String> wrong = wrong(PAGE, new Hashes(today(), several(), dense()), jobs());
    Map<String, String> owed = owed(PAGE);
    return KINDS.stream()
        .map(
            kind ->
                DynamicTest.dynamicTest(
                    kind,
                    () -> {
                      assumeFalse(owed.containsKey(kind), () -> "owed: " + owed.get(kind));
                      assertThat(wrong.stream().filter(w -> w.startsWith(kind)).toList())
                          .as("on a GPU host: benchmarks/gpu/evidence.sh %s", kind)
                          .isEmpty();
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
    var jobs = List.of("memcheck:A", "racecheck:A:one|two", "racecheck:B:0/2");
    var page = new StringBuilder();
    for (String name :
        List.of("sanitizer-memcheck", "sanitizer-rest", "faults", "survey", "devices", "dense")) {
      page.append("| [log](logs/2026-11-27-h100-").append(name).append(".txt) |\n");
    }
    Path index = folder.resolve("page.md");
    Files.writeString(index, page);
    Path logs = folder.resolve("logs/2026-11-27-h100-");
    String clean = " exit 0, 9 s, 2 passed, 0 failed, 0 skipped:       1 ";
    String memory = "memcheck:A" + clean + "ERROR SUMMARY: 0 errors";
    String one =
        "racecheck:A:one|two" + clean + "RACECHECK SUMMARY: 0 hazards displayed (0 errors)";
    String two = one.replace("A:one|two", "B:0/2");
    write(Path.of(logs + "sanitizer-memcheck.txt"), "kernels: now", memory);
    write(Path.of(logs + "sanitizer-rest.txt"), "kernels: now", one + "\n" + two);
    write(Path.of(logs + "faults.txt"), "kernels: now", "verdict: passed");
    write(Path.of(logs + "survey.txt"), "kernels: now", "verdict: passed");
    write(Path.of(logs + "devices.txt"), "several: all", "verdict: passed");
    write(Path.of(logs + "dense.txt"), "dense: full", "verdict: passed");
    assertThat(wrong(index, new Hashes("now", "all", "full"), jobs)).isEmpty();
    assertThat(wrong(index, new Hashes("now", "later", "full"), jobs))
        .hasSize(2)
        .allMatch(w -> w.startsWith("devices: "));
    assertThat(wrong(index, new Hashes("now", "all", "later"), jobs))
        .hasSize(2)
        .allMatch(w -> w.startsWith("dense: "));
    assertThat(
            wrong(index, new Hashes("later", "all", "full"), jobs).stream()
                .filter(w -> w.contains("older")))
        .hasSize(5)
        .allMatch(w -> w.endsWith("is now later"));

    write(Path.of(logs + "faults.txt"), "kernels: now", "verdict: FAILED");
    assertThat(wrong(index, new Hashes("now", "all", "full"), jobs))
        .hasSize(2)
        .allMatch(w -> w.startsWith("faults: "));
    write(Path.of(logs + "faults.txt"), "kernels: now", "verdict: passed");

    String late = "racecheck:B:0/2 exit 124, 500 s,  passed,  failed,  skipped: ";
    write(Path.of(logs + "sanitizer-rest.txt"), "kernels: now", one + "\n" + late);
    assertThat(wrong(index, new Hashes("now", "all", "full"), jobs))
        .containsExactly("sanitizer-racecheck:B:0/2: in no log");
    for (String found :
        List.of(
            two.replace("exit 0", "exit 9"),
            two.replace("0 failed", "1 failed"),
            two.replace(" 0 hazards", " 3 hazards"))) {
      // What was found once is not undone by a run that passed.
      write(Path.of(logs + "sanitizer-rest.txt"), "kernels: now", found + "\n" + one + "\n" + two);
      assertThat(wrong(index, new Hashes("now", "all", "full"), jobs))
          .singleElement(as(STRING))
          .startsWith("sanitizer-racecheck:B:0/2: ")
          .contains("passed");
    }
    Files.writeString(index, page.toString().replaceFirst(".*survey.*\n", ""));
    assertThat(wrong(index, new Hashes("now", "all", "full"), jobs)).contains("survey: no log");
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
  void whatOnlySeveralDevicesHaveIsInAHashOfItsOwn(@TempDir Path folder) throws Exception {
    Path script = ROOT.resolve("gpu-core/src/main/cuda/fingerprint.sh");
    Path copy = Files.copy(script, folder.resolve("fingerprint.sh"));
    Path kernel = folder.resolve("kernels/k.cu");
    Path other = folder.resolve("include/several/peers.cuh");
    write(folder.resolve("include/h.cuh"), "#pragma once", "");
    write(folder.resolve("kernels/several.cu"), "#define SPARQR_SEVERAL", "");
    write(other, "#pragma once", "");
    Files.writeString(kernel, "int a = 1;\nint b;\n");
    String one = printed(copy, "");
    String several = printed(copy, "several");
    Files.writeString(
        kernel, "#ifdef SPARQR_SEVERAL\nint a = 2;\n#else\nint a = 1;\n#endif\nint b;\n");
    assertThat(printed(copy, "")).isEqualTo(one);
    assertThat(printed(copy, "several")).isNotEqualTo(several);
    several = printed(copy, "several");
    Files.writeString(other, "int c;\n");
    assertThat(printed(copy, "")).isEqualTo(one);
    assertThat(printed(copy, "several")).isNotEqualTo(several);
  }

  @Test
  void whatDenseMatricesAloneHaveIsInAHashOfItsOwn(@TempDir Path folder) throws Exception {
    Path script = ROOT.resolve("gpu-core/src/main/cuda/fingerprint.sh");
    Path copy = Files.copy(script, folder.resolve("fingerprint.sh"));
    Path shared = folder.resolve("include/h.cuh");
    Path own = folder.resolve("include/dense/sums.cuh");
    write(folder.resolve("include/several/peers.cuh"), "#pragma once", "");
    write(shared, "#pragma once", "");
    write(folder.resolve("kernels/dense.cu"), "int a;", "");
    write(own, "#pragma once", "");
    List<String> before = List.of(printed(copy, ""), printed(copy, "several"));
    String dense = printed(copy, "dense");
    Files.writeString(own, "int c;\n");
    Files.writeString(folder.resolve("kernels/dense.cu"), "int b;\n");
    assertThat(List.of(printed(copy, ""), printed(copy, "several"))).isEqualTo(before);
    assertThat(printed(copy, "dense")).isNotEqualTo(dense);
    dense = printed(copy, "dense");
    Files.writeString(shared, "int d;\n");
    assertThat(printed(copy, "dense")).isNotEqualTo(dense);
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
