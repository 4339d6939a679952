/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import java.util.Locale;
import org.apache.spark.rdd.InputFileBlockHolder;

/** Where a row is, for a person. */
public final class InputPlace {

  private InputPlace() {}

  /**
   * A row that the calling task is reading; with the path of its file where Spark reads one for the
   * task (files of a Dataset, text and Hadoop files), which it does not where rows come from a
   * shuffle or are persisted. Of a file that is read in splits, the byte that its split begins at,
   * too: rows count from there.
   *
   * @param row from 0 on
   */
  public static String of(long row, int partition) {
    String path = InputFileBlockHolder.getInputFilePath().toString();
    String place = "row " + row + " of partition " + partition;
    if (path.isEmpty()) {
      return place;
    }
    long from = InputFileBlockHolder.getStartOffset();
    String split = from > 0 ? String.format(Locale.ROOT, ", from byte %d on", from) : "";
    return place + " (" + path + split + ")";
  }
}
