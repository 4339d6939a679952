/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.configuration.Keys;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.spark.input.Piped;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Main class of the command line, started by {@code bin/sparqr} or by {@code spark-submit}. Exit
 * codes: 0 done; 1 the input, the output or the cluster failed; 2 the command line is wrong; 3 the
 * numbers are unusable (NaN or infinity in the input); 4 doctor has warnings. An error is one line
 * on standard error, with a stack trace only if {@code --verbose} is given.
 */
@Command(
    name = "sparqr",
    description = "Exact sparse least squares on Apache Spark, by multifrontal QR.",
    mixinStandardHelpOptions = true,
    versionProvider = CliVersion.class,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:input, output or cluster failed",
      "2:wrong command line",
      "3:numerical error (NaN or infinity in the input)",
      "4:doctor: nothing would fail, but there are warnings"
    },
    subcommands = {
      SolveCommand.class,
      RegressCommand.class,
      QrCommand.class,
      AnalyzeCommand.class,
      GenerateCommand.class,
      DoctorCommand.class,
      TuneCommand.class
    })
public final class SparqrCli implements Runnable {

  /** Commands that factor. */
  private static final Set<String> FACTORING = Set.of("solve", "regress", "qr");

  private static final String LOG_CONFIGURATION = "log4j2.configurationFile";

  private static final String LOG_PROVIDER = "slf4j.provider";

  /** What {@code java -jar} says, for the jar has no Spark in it. */
  private static final String WITHOUT_SPARK =
      """
      sparqr: this jar runs on Spark, which is not on the class path
      Usage: spark-submit --class io.sparqr.spark.cli.SparqrCli JAR COMMAND [OPTIONS]
             spark-submit --class io.sparqr.spark.cli.SparqrCli JAR --help
      In a checkout bin/sparqr COMMAND brings Spark along. To programs: spark-submit --jars JAR\
      """;

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  /** Runs a command line and ends the JVM with its exit code if that is not 0. */
  public static void main(String[] args) {
    if (!hasSpark(SparqrCli.class.getClassLoader())) {
      System.err.println(WITHOUT_SPARK);
      System.exit(ExitCode.USAGE);
    }
    quiet(args);
    if (args.length > 0 && FACTORING.contains(args[0])) {
      loadBlas();
    }
    int code = execute(new PrintWriter(System.out, true), new PrintWriter(System.err, true), args);
    if (code != 0) {
      System.exit(code);
    }
  }

  /**
   * Loads the native BLAS beside the parsing of the arguments, which takes one core: the first
   * front would wait for it, 50 ms of a first solve.
   */
  private static void loadBlas() {
    var loader = new Thread(BlasLoader::kernels, "sparqr-blas");
    loader.setDaemon(true);
    loader.start();
  }

  private static boolean hasSpark(ClassLoader loader) {
    return loader.getResource("org/apache/spark/api/java/JavaRDD.class") != null;
  }

  /**
   * Under spark-submit the cluster configures logging; otherwise Spark's own log would hide the
   * summary.
   */
  static void quiet(String... args) {
    if (System.getProperty(LOG_CONFIGURATION) == null
        && System.getProperty("spark.master") == null) {
      System.setProperty(LOG_CONFIGURATION, "classpath:io/sparqr/spark/cli/log4j2.properties");
      boolean verbose = Arrays.asList(args).contains("--verbose");
      System.setProperty(Keys.LOG_LEVEL.name(), verbose ? "warn" : "off");
      if (!verbose && System.getProperty(LOG_PROVIDER) == null) {
        // No log is shown in that case, and Log4j takes as long to start as a small solve.
        System.setProperty(LOG_PROVIDER, "org.slf4j.helpers.NOP_FallbackServiceProvider");
        System.setProperty("slf4j.internal.verbosity", "WARN");
      }
    }
  }

  /** Runs a command line in this JVM; returns the exit code. */
  static int execute(PrintWriter out, PrintWriter err, String... args) {
    CommandLine line = new CommandLine(new SparqrCli());
    line.setOut(out);
    line.setErr(err);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setParameterExceptionHandler(SparqrCli::usage);
    line.setExecutionExceptionHandler(Failures::report);
    try {
      return line.execute(args);
    } catch (OutOfMemoryError e) {
      err.println("sparqr: " + Failures.message(e));
      return ExitCode.FAILED;
    } finally {
      Piped.deleteCopies();
    }
  }

  private static int usage(ParameterException e, String[] args) {
    CommandLine line = e.getCommandLine();
    line.getErr().println("sparqr: " + Failures.oneLine(e.getMessage()));
    String name = line.getCommandSpec().qualifiedName();
    line.getErr().println("Try '" + name + " --help'.");
    return ExitCode.USAGE;
  }
}
