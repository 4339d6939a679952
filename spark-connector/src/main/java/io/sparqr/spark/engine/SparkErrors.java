/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import io.sparqr.error.DiskFullException;
import io.sparqr.error.ErrorText;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.SparseQrException;
import io.sparqr.error.TaskFailedException;
import io.sparqr.spark.internals.SparkProcess;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.SparkException;
import org.jspecify.annotations.Nullable;

/** Converts Spark's exceptions for a failed job into our own errors with one-line messages. */
public final class SparkErrors {

  private static final int DEPTH = 32;
  private static final int LONGEST = 400;

  /** Spark's word for an error of a task whose class it could not load. */
  private static final String UNREAD = "UnknownReason";

  private static final String NOT_TOLD =
      "the reason is in Spark's log alone, since Spark itself does not know the classes of a jar"
          + " that a session has added (spark.addArtifacts); with --jars it is told";

  private static final String NO_SPACE = "No space left on device";

  /**
   * "Task 3 in stage 5.0 failed 4 times, most recent failure: Lost task ... (host executor 2):".
   */
  private static final Pattern GAVE_UP =
      Pattern.compile(
          "Task (\\d+) in stage \\S+ failed (\\d+) times.*?\\((?:TID \\d+)\\) \\((.*?)\\): ?(.*)");

  /** A path before the system's message, as in "/data/blockmgr-1/0c/x (No space left ...)". */
  private static final Pattern PATH = Pattern.compile("(/\\S*) \\(" + NO_SPACE);

  private SparkErrors() {}

  /**
   * Runs an action; turns the exception of a failed job into our own error. (Spark's exception is a
   * checked one that no Java signature declares.)
   */
  public static <T> T unwrap(Supplier<T> action) {
    try {
      return action.get();
    } catch (Exception e) {
      throw SparkErrors.<RuntimeException>sneaky(ours(e));
    }
  }

  /**
   * Our own error among the causes; otherwise one that describes in a line why Spark gave up;
   * otherwise the error itself.
   */
  public static Exception ours(Exception e) {
    List<Throwable> chain =
        Stream.iterate((Throwable) e, t -> t != null, Throwable::getCause).limit(DEPTH).toList();
    for (Throwable t : chain) {
      if (t instanceof SparseQrException s) {
        return s;
      }
      if (t instanceof SourceFailure s) {
        return noSpace(List.of(s))
            ? full(s)
            : new TaskFailedException(String.valueOf(s.getMessage()), s.getCause());
      }
    }
    if (chain.stream().noneMatch(SparkException.class::isInstance)) {
      return e;
    }
    if (noSpace(chain)) {
      return full(e);
    }
    for (Throwable t : chain) {
      if (t instanceof OutOfMemoryError) {
        return outOfMemory(e, line(t));
      }
    }
    return gaveUp(e, chain);
  }

  /** A throwable in one line: its type and the first line of its message. */
  public static String line(Throwable t) {
    return ErrorText.line(t);
  }

  /**
   * The exception of the last attempt becomes the cause if Spark could send it to the driver;
   * otherwise it is in the text.
   */
  private static Exception gaveUp(Exception e, List<Throwable> chain) {
    Matcher m = GAVE_UP.matcher(firstLine(e.getMessage(), 4 * LONGEST));
    if (!m.find()) {
      return ErrorText.firstLine(e.getMessage()).equals(e.getMessage())
          ? e
          : new TaskFailedException(ErrorText.firstLine(e.getMessage()), e);
    }
    String times = m.group(2).equals("1") ? "once" : m.group(2) + " times";
    Throwable thrown = chain.size() > 1 ? chain.get(1) : e;
    String what =
        chain.size() > 1
            ? line(thrown)
            : ErrorText.firstLine(m.group(4).replace(SourceFailure.class.getName() + ": ", ""));
    if (what.contains(OutOfMemoryError.class.getName())) {
      return outOfMemory(e, what);
    }
    return new TaskFailedException(
        "task %s failed %s, at last on %s: %s"
            .formatted(m.group(1), times, m.group(3), what.equals(UNREAD) ? NOT_TOLD : what),
        thrown);
  }

  private static String firstLine(@Nullable String message, int longest) {
    String line = message == null ? "" : message.strip().lines().findFirst().orElse("");
    return line.substring(0, Math.min(longest, line.length()));
  }

  private static Exception outOfMemory(Exception e, String what) {
    long heap = Runtime.getRuntime().maxMemory();
    String whose =
        "local mode: the driver's heap of %,d MB, spark.driver.memory".formatted(heap >> 20);
    boolean local = !SparkProcess.exists() || localMaster();
    if (!local) {
      whose =
          "executors of "
              + SparkProcess.setting("spark.executor.memory").orElse("1g")
              + ", spark.executor.memory";
    }
    var ours =
        new InsufficientMemoryException(
            "a task ran out of memory (%s): %s".formatted(whose, what), -1, local ? heap : -1);
    ours.initCause(e);
    return ours;
  }

  private static boolean localMaster() {
    return SparkProcess.setting("spark.master")
        .orElse("local")
        .matches(Engine.LOCAL_MASTER.pattern());
  }

  private static boolean noSpace(List<Throwable> chain) {
    return chain.stream()
        .flatMap(t -> Stream.iterate(t, c -> c != null, Throwable::getCause).limit(DEPTH))
        .anyMatch(
            t ->
                String.valueOf(t.getMessage()).contains(NO_SPACE)
                    && (t instanceof IOException
                        || t instanceof SparkException
                        || t instanceof SourceFailure));
  }

  /** The folder is either in the text or among those configured for Spark. */
  private static DiskFullException full(Exception e) {
    String folder = null;
    for (Throwable t = e; t != null && folder == null; t = t.getCause()) {
      Matcher m = PATH.matcher(String.valueOf(t.getMessage()));
      folder = m.find() ? m.group(1) : null;
    }
    if (folder == null) {
      folder =
          SparkProcess.exists() && localMaster()
              ? String.join(",", SparkProcess.localFolders())
              : System.getenv()
                  .getOrDefault(
                      "SPARK_LOCAL_DIRS", SparkProcess.setting("spark.local.dir").orElse("/tmp"));
    }
    return new DiskFullException(
        NO_SPACE.toLowerCase(java.util.Locale.ROOT)
            + " in "
            + folder
            + ": shuffles and what does not fit into memory are written there; spark.local.dir"
            + " names other folders",
        folder,
        -1,
        e);
  }

  /** Throws any exception, because Scala's signatures do not declare Spark's checked ones. */
  @SuppressWarnings("unchecked")
  public static <E extends Throwable> RuntimeException sneaky(Throwable e) throws E {
    throw (E) e;
  }
}
