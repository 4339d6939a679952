/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.DeviceKey;
import io.sparqr.configuration.Keys;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.symbolic.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuningChoiceTest {

  private static final DeviceKey KEY = new DeviceKey("NVIDIA H200", "13.0", "00ff");
  private static final Tuning TUNING = Tuning.constants().withApply(6, 4);

  @TempDir private Path folder;

  private Path tuned() throws IOException {
    Path file = folder.resolve("tuning.json");
    Instant date = Instant.parse("2026-11-30T20:15:30Z");
    TuningFile.add(file, new TuningFile.Entry(KEY, date, TUNING));
    return file;
  }

  private static TuningChoice of(Optional<Path> set, DeviceKey... keys) {
    return TuningChoice.of(set.map(Path::toString), Optional.empty(), () -> List.of(keys));
  }

  private static void assertConstants(TuningChoice choice, String... words) {
    assertThat(choice.tuning().tuning()).isEqualTo(Tuning.constants());
    assertThat(choice.tuning().origin()).startsWith("constants: ").contains(words);
  }

  /** It names the file and the reason, and so does the report. */
  private static void assertIgnored(TuningChoice choice, Path file, String reason) {
    assertConstants(choice, file.toString(), reason);
    assertThat(choice.warning().orElseThrow())
        .startsWith("the tuning file " + file + " is ignored: ")
        .contains(reason)
        .doesNotContain("\n");
  }

  @Test
  void theFileOfTheDeviceIsUsed() throws IOException {
    Path file = tuned();
    for (TuningChoice choice :
        List.of(
            of(Optional.of(file), KEY),
            TuningChoice.of(Optional.empty(), Optional.of(file), () -> List.of(KEY)))) {
      assertThat(choice.warning()).isEmpty();
      assertThat(choice.tuning().tuning()).isEqualTo(TUNING);
      assertThat(choice.tuning().origin())
          .isEqualTo("file %s of 2026-11-30T20:15:30Z".formatted(file));
    }
  }

  @Test
  void aForeignFileIsIgnoredWithAWarning() throws IOException {
    Path file = tuned();
    for (DeviceKey other :
        List.of(
            new DeviceKey("NVIDIA H100", KEY.driver(), KEY.kernels()),
            new DeviceKey(KEY.device(), "12.9", KEY.kernels()),
            new DeviceKey(KEY.device(), KEY.driver(), "00fe"))) {
      assertIgnored(of(Optional.of(file), other), file, "it is for " + KEY);
      assertIgnored(of(Optional.of(file), other), file, "the device is " + other);
    }
  }

  @Test
  void aDamagedOrMissingFileIsIgnoredWithAWarning() throws IOException {
    Path file = tuned();
    Files.writeString(file, Files.readString(file).replace("true", "tru"));
    assertIgnored(of(Optional.of(file), KEY), file, "it is damaged");
    Path missing = folder.resolve("missing.json");
    assertIgnored(of(Optional.of(missing), KEY), missing, "there is no such file");
    assertIgnored(of(Optional.of(folder), KEY), folder, "it is no file");
    Files.writeString(file, "{\"format\": 1, \"tunings\": []}");
    assertIgnored(of(Optional.of(file), KEY), file, "it has no tuning");
    assertThat(
            TuningChoice.of(Optional.of("a\0b"), Optional.empty(), List::of)
                .warning()
                .orElseThrow())
        .contains("it is no name of a file");
  }

  /** A user without a tuning is told nothing, and no device is asked. */
  @Test
  void withoutAFileThereIsNoWarning() {
    var asked = new AtomicInteger();
    TuningChoice none =
        TuningChoice.of(
            Optional.empty(),
            Optional.of(folder.resolve("missing.json")),
            () -> {
              asked.incrementAndGet();
              return List.of(KEY);
            });
    assertConstants(none, "no tuning file");
    assertThat(none.warning()).isEmpty();
    assertThat(asked).hasValue(0);
    assertThat(TuningChoice.of(Optional.empty(), Optional.empty(), List::of).warning()).isEmpty();
  }

  @Test
  void devicesThatDifferAndUnknownOnesHaveTheConstants() throws IOException {
    var file = Optional.of(tuned());
    assertConstants(of(file, KEY, new DeviceKey("B", "1", "2")), "the devices differ");
    assertConstants(of(file), "the devices are not known");
    assertConstants(TuningChoice.of(Optional.of("none"), file, () -> List.of(KEY)), "asked for");
  }

  @Test
  void theSettingNamesTheFile() throws IOException {
    Path file = tuned();
    System.setProperty(Keys.TUNING_FILE.name(), file.toString());
    try {
      assertThat(TuningChoice.file()).contains(file);
      // without a device nobody knows whether it is the file's
      TuningChoice choice = TuningChoice.of(true);
      if (TuningChoice.ofThisJvm().isEmpty()) {
        assertConstants(choice, "the devices are not known");
      }
    } finally {
      System.clearProperty(Keys.TUNING_FILE.name());
    }
    assertThat(TuningChoice.file().orElseThrow()).endsWithRaw(Path.of(".sparqr", "tuning.json"));
  }

  @Test
  void withoutADeviceNothingIsTuned() {
    var none = new Backends.Cuda(Optional.empty());
    assertThatThrownBy(() -> DeviceTuner.tune(none, 0, 1))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessage("CUDA is required: no CUDA backend in this build");
    var without = new Backends.Cuda(Optional.of(new DeviceRuleTest.Thresholds(1)));
    assertThatThrownBy(() -> DeviceTuner.tune(without, 0, 1))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageContaining("no device 0 that can be asked");
  }
}
