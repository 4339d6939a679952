/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarketHeader;
import io.sparqr.matrix.MatrixMarketHeader.Symmetry;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.resource.Held;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.resource.SparkErrors;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * The rows of a Matrix Market coordinate file or of a libsvm file, in the file's order of rows,
 * parsed by the executors. The whole file was read and found right when this is there; what was
 * read lies with the executors (shuffle files, or a cached RDD) until this is closed or forgotten.
 * Entries of one place of a Matrix Market file are summed in the file's order: the same bits as
 * {@link io.sparqr.matrix.MatrixMarket} reads.
 */
public final class FileRows implements AutoCloseable {

  private final long rowCount;
  private final int columns;
  private final int splits;
  private final JavaRDD<RowSlice> slices;
  private final Held held;

  FileRows(long rowCount, int columns, int splits, JavaRDD<RowSlice> slices, Held held) {
    this.rowCount = rowCount;
    this.columns = columns;
    this.splits = splits;
    this.slices = slices;
    this.held = held;
  }

  /**
   * What is to be read, and how.
   *
   * @param name what messages call the file
   * @param path of any of Hadoop's file systems
   * @param transpose take A'; not for libsvm
   * @param labels of a Matrix Market file
   * @param rhs m x k, instead of labels or of a libsvm file's own; null: none
   * @param rhsFile the same in a general array file, read by the executors; of a Matrix Market
   *     file; null: none
   * @param partitions of the rows; 0: the cluster's cores, more for a large file
   */
  public record Request(
      String name,
      String path,
      boolean transpose,
      Labels labels,
      DenseMatrix rhs,
      Source rhsFile,
      int partitions) {}

  /**
   * A file of any of Hadoop's file systems.
   *
   * @param name what messages call it
   */
  public record Source(String name, String path) {}

  /** What a file is read for. */
  public enum Content {
    /** A Matrix Market file of coordinates. */
    MATRIX,
    /** A Matrix Market array, general. */
    RIGHT_HAND_SIDE,
    /** A libsvm file. */
    LIBSVM
  }

  /**
   * Why the executors cannot read a file; empty if they can.
   *
   * @param stream the file from its beginning
   * @throws MatrixFormatException if the head of a Matrix Market file is malformed
   */
  public static String obstacle(InputStream stream, String name, Content content)
      throws IOException {
    InputStream in = new BufferedInputStream(stream);
    in.mark(2);
    if (InputFile.isGzip(in)) {
      return "gzip cannot be cut into splits";
    }
    in.reset();
    if (content == Content.LIBSVM) {
      return "";
    }
    MatrixMarketHeader header = MatrixMarketHeader.read(in, name);
    if (content == Content.MATRIX) {
      return header.coordinate() ? "" : "it is an array, not coordinates";
    }
    boolean general = !header.coordinate() && header.symmetry() == Symmetry.GENERAL;
    return general ? "" : "it is no general array";
  }

  /**
   * Reads a Matrix Market coordinate file.
   *
   * @throws IOException if it cannot be opened or read
   * @throws io.sparqr.error.SparseQrException if the file is malformed or does not fit the
   *     right-hand side; as the driver's reader says it
   */
  public static FileRows matrixMarket(JavaSparkContext context, Request request)
      throws IOException {
    return new CoordinateFile(context, request).read();
  }

  /**
   * Reads a libsvm file; its labels are the right-hand side unless another is given. Errors as for
   * {@link #matrixMarket}.
   */
  public static FileRows libsvm(JavaSparkContext context, Request request) throws IOException {
    return new LibsvmFile(context, request).read();
  }

  /** Refuses a matrix that is nothing to solve, and right-hand sides that do not fit. */
  static void requireShape(Request request, long rows, long columns) {
    if (rows == 0 || columns == 0) {
      throw empty(request.name, rows, columns);
    }
    DenseMatrix b = request.rhs;
    if (b != null) {
      requireRightHandSide(b, rows);
    }
  }

  /** The error of a matrix without rows or columns. */
  public static MatrixFormatException empty(String name, long rows, long columns) {
    return new MatrixFormatException(
        name
            + ": a "
            + rows
            + " x "
            + columns
            + " matrix has no "
            + (columns == 0 ? "columns" : "rows")
            + ", there is nothing to solve",
        name,
        -1);
  }

  /** Refuses right-hand sides of another length than m, and none at all. */
  public static void requireRightHandSide(DenseMatrix b, long rows) {
    requireRightHandSide(b.rows(), b.columns(), rows);
  }

  /** The same by its sizes. */
  static void requireRightHandSide(long itsRows, int itsColumns, long rows) {
    if (itsRows != rows) {
      throw new DimensionMismatchException(
          "the right-hand side has " + itsRows + " rows, the matrix " + rows,
          "rows",
          rows,
          itsRows);
    }
    if (itsColumns == 0) {
      throw new DimensionMismatchException(
          "the right-hand side has no columns", "right-hand sides", 1, 0);
    }
  }

  /** m. */
  public long rowCount() {
    return rowCount;
  }

  /** n. */
  public int columns() {
    return columns;
  }

  /** Parts of the file that were read side by side. */
  public int splits() {
    return splits;
  }

  /** Keeps the rows in the executors' memory or on their disks until this is closed. */
  public FileRows persist() {
    if (slices.getStorageLevel().equals(StorageLevel.NONE())) {
      held.persist(slices, StorageLevel.MEMORY_AND_DISK());
    }
    JavaSparkContext context = JavaSparkContext.fromSparkContext(slices.context());
    try (JobScope jobs = new JobScope(context)) {
      jobs.describe("rows of A, to be kept");
      SparkErrors.unwrap(slices::count);
    }
    return this;
  }

  /** The rows. */
  public JavaRDD<SparseRow> rows() {
    return slices.flatMap(RowSlice::iterator).setName("rows of A");
  }

  @Override
  public void close() {
    held.close();
  }
}
