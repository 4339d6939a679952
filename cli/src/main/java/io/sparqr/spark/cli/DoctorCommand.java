/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.doctor.Diagnosis;
import io.sparqr.spark.doctor.Doctor;
import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.internals.SparkProcess;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparqr doctor}: what on the machines would make a solve fail or slow. */
@Command(
    name = "doctor",
    description =
        "Looks at this JVM, and with a master at every executor, for what would make a solve fail or"
            + " slow; each finding with the line that mends it.",
    versionProvider = CliVersion.class,
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:nothing to mend",
      "1:something would fail",
      "2:wrong command line",
      "4:nothing would fail, but there are warnings"
    },
    sortOptions = false)
final class DoctorCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description =
          "Spark master, whose executors are looked at; default: what spark-submit says, otherwise"
              + " this JVM alone, without Spark")
  private @Nullable String master;

  @Option(
      names = "--problem",
      paramLabel = "gen:SPEC|MxNxNNZ",
      description =
          "what a problem would need: one of the gallery, or rows x columns x nonzeros, such as"
              + " 1000000x5000x20000000")
  private @Nullable String problem;

  @Option(names = "--json", description = "the findings as JSON")
  private boolean json;

  @Option(names = "--verbose", description = "stack traces with errors")
  @SuppressWarnings("UnusedVariable") // Failures asks picocli for it
  private boolean verbose;

  @Override
  public Integer call() {
    Diagnosis found;
    try {
      found = look();
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(json ? found.toJson() + System.lineSeparator() : found.toText());
    out.flush();
    return switch (found.worst()) {
      case OK, NOTE -> 0;
      case WARNING -> ExitCode.WARNINGS;
      case ERROR -> ExitCode.FAILED;
    };
  }

  private Diagnosis look() {
    boolean spark =
        master != null
            || System.getProperty("spark.master") != null
            || SparkProcess.activeContext().isPresent();
    if (!spark) {
      return Doctor.here(Optional.ofNullable(problem));
    }
    try (SparkHandle handle = new SparkHandle(master, 0)) {
      return Doctor.of(handle.context(), Optional.ofNullable(problem));
    }
  }
}
