/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.internals.RunningTask;
import java.util.Locale;

/** The place of a row, for error messages. */
public final class InputPlace {

  private InputPlace() {}

  /**
   * The place of a row that the calling task is reading. Includes the path of its file if Spark is
   * reading a file for the task (files of a Dataset, text and Hadoop files), but not for rows from
   * a shuffle or a persisted RDD. For a file read in splits, also includes the byte offset of the
   * split, from which rows are counted.
   *
   * @param row from 0 on
   */
  public static String of(long row, int partition) {
    String place = "row " + row + " of partition " + partition;
    return RunningTask.inputFile().map(file -> place + " (" + named(file) + ")").orElse(place);
  }

  private static String named(RunningTask.InputFile file) {
    String split =
        file.from() > 0 ? String.format(Locale.ROOT, ", from byte %d on", file.from()) : "";
    return file.path() + split;
  }
}
