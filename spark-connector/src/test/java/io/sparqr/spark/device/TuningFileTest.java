/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.DeviceKey;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.Tuning;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuningFileTest {

  private static final DeviceKey H200 = new DeviceKey("NVIDIA H200", "13.0 (580.65)", "00ff");
  private static final DeviceKey OTHER = new DeviceKey("NVIDIA \"X\" \u00bd", "13.1", "aa");
  private static final Instant DATE = Instant.parse("2026-11-30T20:15:30Z");

  private static final Tuning TUNING =
      new Tuning(
          Tuning.constants().tiles().with(new TileBundles(2, 3, 7, 5)).withSmallFronts(123, 45),
          false,
          6,
          12,
          1 << 20);

  @TempDir private Path folder;

  private static TuningFile.Entry entry(DeviceKey key, Tuning tuning) {
    return new TuningFile.Entry(key, DATE, tuning);
  }

  private Path file() {
    return folder.resolve("deep").resolve("tuning.json");
  }

  @Test
  void everyFieldComesBackAndOthersStay() throws IOException {
    TuningFile.add(file(), entry(H200, TUNING));
    assertThat(TuningFile.read(file()).entries()).containsExactly(entry(H200, TUNING));
    TuningFile.add(file(), entry(OTHER, Tuning.constants()));
    TuningFile.add(file(), entry(H200, TUNING.withPipelining(true)));
    assertThat(TuningFile.read(file()))
        .isEqualTo(
            new TuningFile.Content(
                List.of(entry(H200, TUNING.withPipelining(true)), entry(OTHER, Tuning.constants())),
                Optional.empty()));
  }

  /** What a text is changed to, and what the reason must name. */
  private static Map<String[], String> damages() {
    Map<String[], String> all = new LinkedHashMap<>();
    all.put(new String[] {"\"format\" : 1", "\"format\" : 2"}, "format is 2");
    all.put(new String[] {"\"tunings\"", "\"things\""}, "no 'tunings'");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : 9"}, "bundle size 9");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : 1"}, "bundle size 1");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : 2.5"}, "'tall' is no whole number");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : \"2\""}, "'tall' is no whole number");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : 99999999999"}, "'tall' is no whole number");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : null"}, "'tall' is no whole number");
    all.put(new String[] {"\"tall\" : 2,", ""}, "'bundles' has no 'tall'");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : 2, \"wide\" : 3"}, "'wide', which is");
    all.put(new String[] {"\"tall\" : 2", "\"tall\" : 2, \"tall\" : 3"}, "Duplicate");
    all.put(new String[] {"\"columns\" : 45", "\"columns\" : 257"}, "257");
    all.put(new String[] {"\"columns\" : 45", "\"columns\" : -1"}, "limits of small fronts");
    all.put(new String[] {"\"doubles\" : 123", "\"doubles\" : -5"}, "limits of small fronts");
    all.put(new String[] {"\"tasks\" : 6", "\"tasks\" : 0"}, "Apply tasks: 0");
    all.put(new String[] {"\"tiles\" : 12", "\"tiles\" : 65"}, "Apply tiles: 65");
    all.put(new String[] {"\"pipelining\" : false", "\"pipelining\" : 0"}, "neither true nor");
    all.put(new String[] {"\"chunkDoubles\" : 1048576", "\"chunkDoubles\" : 7"}, "chunk: 7");
    all.put(new String[] {"2026-11-30T20:15:30Z", "yesterday"}, "yesterday");
    all.put(new String[] {"\"NVIDIA H200\"", "17"}, "'device' is no text");
    return all;
  }

  @Test
  void aDamagedFileHasAReasonAndNoEntries() throws IOException {
    TuningFile.add(file(), entry(H200, TUNING));
    String good = Files.readString(file());
    damages()
        .forEach(
            (change, reason) -> {
              assertThat(good).contains(change[0]);
              TuningFile.Content read = read(good.replace(change[0], change[1]));
              assertThat(read.entries()).isEmpty();
              assertThat(read.fault().orElseThrow()).contains(reason).doesNotContain("\n");
            });
    for (String text : List.of("", "null", "[]", "7", "{}", good + "x", good + good, "\0\0\1")) {
      assertThat(read(text).fault()).as(text).isPresent();
    }
    // wherever it was cut off
    String whole = good.strip();
    for (int end = 0; end < whole.length(); end++) {
      assertThat(read(whole.substring(0, end)).fault()).as("%d characters", end).isPresent();
    }
  }

  @Test
  void twoTuningsForOneDeviceAreNone() throws IOException {
    TuningFile.add(file(), entry(H200, TUNING));
    TuningFile.add(file(), entry(OTHER, TUNING));
    String twice =
        Files.readString(file())
            .replace("NVIDIA \\\"X\\\" \u00bd", H200.device())
            .replace("\"13.1\"", "\"13.0 (580.65)\"")
            .replace("\"aa\"", "\"00ff\"");
    assertThat(read(twice).fault().orElseThrow()).isEqualTo("it has two tunings for " + H200);
  }

  private TuningFile.Content read(String text) {
    try {
      Path file = folder.resolve("damaged.json");
      Files.writeString(file, text, StandardCharsets.UTF_8);
      return TuningFile.read(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aFolderAMissingFileAndALargeOneHaveReasons() throws IOException {
    assertThat(TuningFile.read(folder).fault()).contains("it is no file");
    assertThat(TuningFile.read(file()).fault()).contains("there is no such file");
    Path large = folder.resolve("large");
    Files.write(large, new byte[(1 << 20) + 1]);
    assertThat(TuningFile.read(large).fault().orElseThrow()).contains("1,048,577 bytes");
  }

  /** A damaged file is replaced; nothing but the file is left in its folder. */
  @Test
  void writingLeavesTheFileAlone() throws IOException {
    Files.createDirectories(file().getParent());
    Files.writeString(file(), "{");
    TuningFile.add(file(), entry(H200, TUNING));
    assertThat(TuningFile.read(file()).entries()).containsExactly(entry(H200, TUNING));
    try (Stream<Path> there = Files.list(file().getParent())) {
      assertThat(there).containsExactly(file());
    }
    // a folder in the file's place: it cannot be moved there
    Path taken = folder.resolve("taken");
    Files.createDirectories(taken.resolve("full"));
    assertThatThrownBy(() -> TuningFile.add(taken, entry(H200, TUNING)))
        .isInstanceOf(IOException.class);
    try (Stream<Path> there = Files.list(folder)) {
      assertThat(there.map(p -> p.getFileName().toString()))
          .containsExactlyInAnyOrder("deep", "taken");
    }
  }

  /** Readers meanwhile find one whole file or the other. */
  @Test
  void aReaderNeverSeesHalfAFile() throws Exception {
    TuningFile.add(file(), entry(H200, TUNING));
    var writer =
        new Thread(
            () -> {
              for (int k = 0; k < 200; k++) {
                try {
                  TuningFile.add(file(), entry(H200, TUNING.withApply(1 + k % 9, 8)));
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              }
            });
    writer.start();
    while (writer.isAlive()) {
      assertThat(TuningFile.read(file()).fault()).isEmpty();
    }
    writer.join();
  }
}
