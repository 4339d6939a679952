/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** There is one list of settings, which code, documents and errors follow. */
class KeysTest {

  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");
  private static final Pattern NAME = Pattern.compile("\"((?:spark\\.)?sparqr\\.[\\w.]*\\w)\"");

  /** Ways to ask the JVM for a setting without using the list. */
  private static final Pattern BARE =
      Pattern.compile("(Boolean\\.getBoolean|Integer\\.getInteger|Long\\.getLong)\\(");

  @Test
  void theDocumentHasTheTables() throws IOException {
    String document = Files.readString(ROOT.resolve("docs/guide/settings.md"));
    for (Key.Scope scope : Key.Scope.values()) {
      assertThat(document)
          .as("the %s table of docs/guide/settings.md is to be:%n%s", scope, Keys.table(scope))
          .contains("\n\n" + Keys.table(scope) + "\n");
    }
  }

  @Test
  void mainCodeNamesNoSettingElsewhere() {
    var named = new TreeSet<String>();
    var bare = new TreeSet<String>();
    for (String module :
        List.of("partitioning", "gpu-core", "spark-connector", "regression", "cli")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
        files
            .filter(f -> f.toString().endsWith(".java") && !f.endsWith("Keys.java"))
            .forEach(
                f -> {
                  String text = read(f);
                  Matcher m = NAME.matcher(text);
                  while (m.find()) {
                    named.add(f.getFileName() + ": " + m.group(1));
                  }
                  if (BARE.matcher(text).find()) {
                    bare.add(f.getFileName().toString());
                  }
                });
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    assertThat(named).isEmpty();
    assertThat(bare).isEmpty();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void namesAreDifferentAndSayTheirScope() {
    assertThat(Keys.all().stream().map(Key::name)).doesNotHaveDuplicates();
    for (Key<?> key : Keys.all()) {
      assertThat(key.name().startsWith("spark."))
          .as(key.name())
          .isEqualTo(key.scope() == Key.Scope.SPARK);
      assertThat(key.meaning()).as(key.name()).isNotBlank().doesNotEndWith(".");
      assertThat(key.otherwise()).as(key.name()).isNotBlank();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "sparqr.cuda.bundle, 9, a whole number from 2 to 8",
    "sparqr.cuda.bundle, four, a whole number from 2 to 8",
    "sparqr.cuda.waitMillis, 0, a whole number from 1 on",
    "sparqr.cuda.idleSeconds, -1, 'a number, not negative'",
    "sparqr.cuda.reflectors, yes, true or false",
    "spark.sparqr.model.coreFlops, NaN, a positive number",
    "spark.sparqr.model.coreFlops, 0, a positive number",
    "spark.sparqr.model.levelSeconds, Infinity, a positive number"
  })
  void whatCannotBeReadIsAnErrorThatNamesTheKey(String name, String text, String form) {
    Key<?> key = Keys.all().stream().filter(k -> k.name().equals(name)).findFirst().orElseThrow();
    assertThatThrownBy(() -> key.find(Map.of(name, text)::get))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(name + " = " + text + ": " + form + " is expected");
  }

  @Test
  void valuesAndDefaults() {
    assertThat(Keys.WAIT_MILLIS.in(Map.of("sparqr.cuda.waitMillis", " 50 ")::get)).isEqualTo(50);
    assertThat(Keys.WAIT_MILLIS.in(name -> null)).isEqualTo(60_000);
    assertThat(Keys.REFLECTORS.in(Map.of("sparqr.cuda.reflectors", "TRUE")::get)).isTrue();
    assertThat(Keys.MINIMUM_FLOPS.find(name -> null)).isEmpty();
    assertThat(Keys.IDLE_SECONDS.in(Map.of("sparqr.cuda.idleSeconds", "0")::get)).isZero();
  }
}
