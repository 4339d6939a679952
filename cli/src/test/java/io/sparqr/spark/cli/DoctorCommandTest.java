/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DoctorCommandTest {

  private static final Map<String, Integer> CODES =
      Map.of("ok", 0, "note", 0, "warning", 4, "error", 1);

  @Test
  void theCodeIsThatOfTheWorstFinding() throws IOException {
    CliRun run = CliRun.of("doctor", "--json", "--problem", "gen:cells2d12");
    JsonNode found = new ObjectMapper().readTree(run.out());
    assertThat(run.code()).isEqualTo(CODES.get(found.path("worst").asText()));
    assertThat(run.err()).isEmpty();
    // 2 exabytes of front: some executor has not that much
    CliRun large = CliRun.of("doctor", "--problem", "900000000x900000000x900000000");
    assertThat(large.code()).isIn(1, 4);
    assertThat(large.out()).contains("problem", "it depends on the pattern", "-> sparqr analyze");
  }

  @Test
  void aWrongProblemIsAWrongCommandLine() {
    CliRun run = CliRun.of("doctor", "--problem", "big");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.errors()).hasSize(1);
    assertThat(run.errors().get(0)).contains("'big'", "gen:SPEC or ROWSxCOLUMNSxNONZEROS");
  }

  /** The guide's table has the checks that there are. */
  @Test
  void theGuideHasEveryCheck() throws IOException {
    CliRun run = CliRun.of("doctor", "--json", "--problem", "gen:cells2d12");
    var checks = new TreeSet<String>();
    new ObjectMapper()
        .readTree(run.out())
        .path("findings")
        .forEach(f -> checks.add(f.path("check").asText()));
    Path guide = Path.of(System.getProperty("basedir", "."), "..", "docs/guide/command-line.md");
    String text = Files.readString(guide);
    text = text.substring(text.indexOf("| check | looks at"));
    var listed = new TreeSet<String>();
    var row =
        Pattern.compile("(?m)^\\| `(\\w+)` \\|").matcher(text.substring(0, text.indexOf("\n\n")));
    while (row.find()) {
      listed.add(row.group(1));
    }
    assertThat(listed.remove("cluster")).isTrue(); // needs executors
    assertThat(listed).isEqualTo(checks);
  }
}
