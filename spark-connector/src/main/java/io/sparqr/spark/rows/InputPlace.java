/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import java.util.Locale;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.InputFileBlockHolder;

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
    // A thread of the driver may have inherited the file of a task that started it.
    String path =
        TaskContext.get() == null ? "" : InputFileBlockHolder.getInputFilePath().toString();
    if (path.isEmpty()) {
      return place;
    }
    long from = InputFileBlockHolder.getStartOffset();
    String split = from > 0 ? String.format(Locale.ROOT, ", from byte %d on", from) : "";
    return place + " (" + path + split + ")";
  }
}
