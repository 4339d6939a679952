/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.util.Optional;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.rdd.InputFileBlockHolder;
import org.apache.spark.shuffle.FetchFailedException;
import org.jspecify.annotations.Nullable;

/** What Spark knows of the task that a thread runs. */
public final class RunningTask {

  private RunningTask() {}

  /**
   * A file that Spark is reading for a task.
   *
   * @param path of the file
   * @param from first byte of the split
   */
  public record InputFile(String path, long from) {}

  /** The file that Spark is reading for the task of this thread; empty if there is none. */
  public static Optional<InputFile> inputFile() {
    // A thread of the driver may have inherited the file of a task that started it.
    String path =
        TaskContext.get() == null ? "" : InputFileBlockHolder.getInputFilePath().toString();
    return path.isEmpty()
        ? Optional.empty()
        : Optional.of(new InputFile(path, InputFileBlockHolder.getStartOffset()));
  }

  /**
   * Makes this thread one of a task's, as Spark's readers look the task up by the thread.
   *
   * @param task the task, or none
   */
  public static void set(@Nullable TaskContext task) {
    TaskContext$.MODULE$.setTaskContext(task);
  }

  /** Whether an error of a task says that shuffle output is lost, which Spark itself handles. */
  public static boolean isLostShuffle(Throwable error) {
    return error instanceof FetchFailedException;
  }
}
