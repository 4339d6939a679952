/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.configuration.Keys;
import io.sparqr.spark.device.DeviceTuner;
import io.sparqr.spark.device.TuningChoice;
import io.sparqr.spark.device.TuningFile;
import io.sparqr.spark.input.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparqr tune}: how the GPU at hand cuts its work best. */
@Command(
    name = "tune",
    description =
        "Measures how the work on the GPU at hand is best cut, and keeps that in a file which later"
            + " solves use. What is not clearly faster stays as it is.",
    versionProvider = CliVersion.class,
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class TuneCommand implements Callable<Integer> {

  private static final double LEAST_SECONDS = 1;

  private static final double MOST_SECONDS = 86_400;

  @Spec private CommandSpec spec;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "60",
      description = "time for measurements, about; default: 60")
  private double seconds;

  @Option(
      names = "--device",
      paramLabel = "N",
      defaultValue = "0",
      description = "number of the device; default: 0")
  private int device;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "file of tunings, to which this one is added; default: that of sparqr.tuning.file,"
              + " ~/.sparqr/tuning.json")
  private @Nullable Path out;

  @Option(names = "--verbose", description = "stack traces with errors")
  @SuppressWarnings("UnusedVariable") // Failures asks picocli for it
  private boolean verbose;

  @Override
  public Integer call() {
    if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS)) {
      throw new UsageException(
          "--seconds %s: from %.0f to %.0f are possible"
              .formatted(seconds, LEAST_SECONDS, MOST_SECONDS));
    }
    if (device < 0) {
      throw new UsageException("--device %d: devices are counted from 0".formatted(device));
    }
    Path file = file();
    DeviceTuner.Tuned tuned = DeviceTuner.tune(device, seconds);
    PrintWriter text = spec.commandLine().getOut();
    text.printf(Locale.ROOT, "%s%n%n", tuned.key());
    text.print(tuned.outcome().toText());
    try {
      TuningFile.add(
          file, new TuningFile.Entry(tuned.key(), Instant.now(), tuned.outcome().tuning()));
    } catch (IOException e) {
      throw new OutputException(file + " cannot be written: " + e.getMessage(), e);
    }
    text.printf(Locale.ROOT, "%nkept in %s%n", file);
    text.flush();
    return 0;
  }

  private static Path usual() {
    try {
      return TuningChoice.file()
          .orElseThrow(() -> new UsageException("this user has no home: name a file by --out"));
    } catch (InvalidPathException e) {
      throw new UsageException(Keys.TUNING_FILE.name() + " is no name of a file: " + e.getInput());
    }
  }

  /** The file, which can be written as far as can be seen before any measurement. */
  private Path file() {
    Path file = out != null ? out : usual();
    if (Files.isDirectory(file)) {
      throw new UsageException(file + " is a folder");
    }
    Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent());
    if (out != null && !Files.isDirectory(folder)) {
      throw new UsageException(folder + ": no such folder for " + file.getFileName());
    }
    if (Files.isDirectory(folder) && !Files.isWritable(folder)) {
      throw new UsageException(folder + ": cannot write there");
    }
    return file;
  }
}
