/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.error.NonFiniteSolutionException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.input.UsageException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** Turns an exception into one line for the user and an exit code for programs. */
final class Failures {

  private static final int LONGEST = 400;

  /** Spark's message for a context that is gone; only its log has the reason. */
  private static final String STOPPED = "stopped SparkContext";

  private Failures() {}

  /** Prints the line, and the stack trace if requested; returns the exit code. */
  static int report(Exception e, CommandLine line, ParseResult parsed) {
    Throwable shown = telling(e);
    line.getErr().println("sparqr: " + message(shown));
    if (line.getParseResult().hasMatchedOption("--verbose")) {
      e.printStackTrace(line.getErr());
    } else if (!expected(shown)) {
      line.getErr().println("(--verbose shows the stack trace)");
    }
    return code(shown);
  }

  static int code(Throwable e) {
    if (e instanceof UsageException || e instanceof NoSuchFileException) {
      return ExitCode.USAGE;
    }
    boolean numerical =
        e instanceof NonFiniteValueException
            || e instanceof NonFiniteSolutionException
            || e instanceof RankDeficientException;
    return numerical ? ExitCode.NUMERICAL : ExitCode.FAILED;
  }

  /**
   * The most informative cause: one of ours if there is one (Spark wraps the exceptions of tasks).
   */
  static Throwable telling(Throwable e) {
    Throwable deepest = e;
    for (Throwable t = e; t != null && t != t.getCause(); t = t.getCause()) {
      if (ours(t)) {
        return t;
      }
      if (t instanceof OutOfMemoryError) {
        return t;
      }
      deepest = t;
    }
    return deepest;
  }

  private static boolean ours(Throwable e) {
    return e instanceof SparseQrException
        || e instanceof UsageException
        || e instanceof OutputException;
  }

  private static boolean expected(Throwable e) {
    return ours(e) || e instanceof NoSuchFileException || e instanceof AccessDeniedException;
  }

  /** What the command line prints of an error. */
  static String message(Throwable e) {
    if (e instanceof NoSuchFileException) {
      return e.getMessage() + ": no such file";
    }
    if (e instanceof AccessDeniedException) {
      return e.getMessage() + ": access denied";
    }
    if (e instanceof OutOfMemoryError) {
      return "out of memory ("
          + e.getMessage()
          + "); the heap is "
          + (Runtime.getRuntime().maxMemory() >> 20)
          + " MB, set SPARQR_JAVA_OPTS=-Xmx...";
    }
    if (ours(e)) {
      return oneLine(e.getMessage());
    }
    if (e instanceof IllegalStateException && oneLine(e.getMessage()).contains(STOPPED)) {
      return "Spark ended the application: it was killed, or none of its executors would start"
          + " (--verbose shows Spark's warnings)";
    }
    String text = e.getMessage() == null ? "" : ": " + oneLine(e.getMessage());
    return e.getClass().getSimpleName() + text;
  }

  /** The first line of a message, shortened if necessary. */
  static String oneLine(@Nullable String message) {
    String line = String.valueOf(message).strip().lines().findFirst().orElse("");
    return line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
  }
}
