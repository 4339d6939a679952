/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.spark.file.FileRows;
import io.sparqr.spark.file.FileRows.Content;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Optional;

/** The choice between driver and executors for parsing a Matrix Market or libsvm file. */
public enum Reader {
  /**
   * The executors if the file is large and can be split, otherwise the driver. In a single JVM the
   * driver is twice as fast (no shuffle), so there only memory counts.
   */
  AUTO,
  /** The driver reads the files and hands out their rows. */
  DRIVER,
  /** The executors; an error if they cannot. */
  EXECUTORS;

  /** A file of this many bytes or more is large for the driver of a cluster. */
  static final long LARGE = 64L << 20;

  /** In a single JVM a file is large from this fraction of the heap on, as 1 / part. */
  static final long HEAP_PART = 8;

  /**
   * The choice for a file.
   *
   * @param executors whether the executors parse it
   * @param why the reason for the driver, if worth mentioning; otherwise empty
   */
  public record Choice(boolean executors, String why) {}

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Chooses by a look at the file.
   *
   * @param local whether driver and executors share one JVM
   * @throws UsageException if the executors are requested but cannot parse it
   */
  public Choice choose(String name, MatrixFormat format, boolean transpose, boolean local)
      throws IOException {
    if (format == MatrixFormat.GALLERY && this == EXECUTORS) {
      throw new UsageException(name + ": the executors cannot read it: it is generated, no file");
    }
    if (format != MatrixFormat.MATRIX_MARKET && format != MatrixFormat.LIBSVM) {
      boolean table = format == MatrixFormat.CSV || format == MatrixFormat.PARQUET;
      if (this == EXECUTORS && !table) {
        throw new UsageException(
            name
                + ": the executors cannot read it: they read text (Matrix Market, libsvm, tables)");
      }
      return new Choice(false, "");
    }
    long most = local ? Runtime.getRuntime().maxMemory() / HEAP_PART : LARGE;
    boolean large = MatrixFormat.length(name) >= most;
    if (this == DRIVER || (this == AUTO && !large)) {
      return new Choice(false, "");
    }
    String obstacle =
        local || MatrixFormat.remote(name)
            ? obstacle(name, format, transpose)
            : "a path without scheme (file:, hdfs:, ...) is the driver's own";
    if (obstacle.isEmpty()) {
      return new Choice(true, "");
    }
    if (this == EXECUTORS) {
      throw new UsageException(name + ": the executors cannot read it: " + obstacle);
    }
    return new Choice(false, obstacle);
  }

  /** Whether the executors can read a right-hand side along with the matrix. */
  public static boolean splitsRightHandSide(String rhs, boolean local) throws IOException {
    boolean market =
        MatrixFormat.ofContent(MatrixFormat.head(rhs))
            .equals(Optional.of(MatrixFormat.MATRIX_MARKET));
    try (InputStream in = MatrixFormat.openRaw(rhs)) {
      return market
          && (local || MatrixFormat.remote(rhs))
          && FileRows.obstacle(in, rhs, Content.RIGHT_HAND_SIDE).isEmpty();
    }
  }

  private static String obstacle(String name, MatrixFormat format, boolean transpose)
      throws IOException {
    boolean libsvm = format == MatrixFormat.LIBSVM;
    try (InputStream in = MatrixFormat.openRaw(name)) {
      String obstacle = FileRows.obstacle(in, name, libsvm ? Content.LIBSVM : Content.MATRIX);
      return obstacle.isEmpty() && libsvm && transpose
          ? "a libsvm file is transposed in one JVM"
          : obstacle;
    }
  }
}
