/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.IndexBase;
import io.sparqr.matrix.MatrixMarketHeader;
import io.sparqr.matrix.MatrixMarketHeader.Symmetry;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.model.SparseRow;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a Matrix Market coordinate file or of a libsvm file, in the order of the file, parsed
 * by the executors. An instance exists only after the whole file has been read and checked; the
 * data stay on the executors (shuffle files, or a cached RDD) until this is closed or garbage.
 * Entries at the same position of a Matrix Market file are summed in file order, with the same bits
 * as by {@link io.sparqr.matrix.MatrixMarket}.
 */
public final class FileRows implements AutoCloseable {

  private final long rowCount;
  private final int columns;
  private final int splits;
  private final JavaRDD<RowSlice> slices;
  private final Held held;
  private final String note;

  FileRows(
      long rowCount, int columns, int splits, JavaRDD<RowSlice> slices, Held held, String note) {
    this.rowCount = rowCount;
    this.columns = columns;
    this.splits = splits;
    this.slices = slices;
    this.held = held;
    this.note = note;
  }

  /**
   * The file to read, and the options.
   *
   * @param name the name for messages
   * @param path a path on any Hadoop file system
   * @param transpose whether to use A'; not for libsvm
   * @param labels labels for the rows of a Matrix Market file
   * @param rhs m x k, if it takes the place of labels or of a libsvm file's own
   * @param rhsFile the same as a general array file, read by the executors; only for a Matrix
   *     Market file, if there is one
   * @param partitions of the rows; 0: as many as the cluster has cores, more for a large file
   * @param base of the indices of a libsvm file
   */
  public record Request(
      String name,
      String path,
      boolean transpose,
      Labels labels,
      @Nullable DenseMatrix rhs,
      @Nullable Source rhsFile,
      int partitions,
      IndexBase base) {

    /** With the base of the indices inferred. */
    public Request(
        String name,
        String path,
        boolean transpose,
        Labels labels,
        @Nullable DenseMatrix rhs,
        @Nullable Source rhsFile,
        int partitions) {
      this(name, path, transpose, labels, rhs, rhsFile, partitions, IndexBase.INFERRED);
    }
  }

  /**
   * A file on any Hadoop file system.
   *
   * @param name the name for messages
   */
  public record Source(String name, String path) {}

  /** What a file contains, and so how it is read. */
  public enum Content {
    /** A matrix in a Matrix Market coordinate file. */
    MATRIX,
    /** A right-hand side in a general Matrix Market array file. */
    RIGHT_HAND_SIDE,
    /** A libsvm file: a label and a row of A on each line. */
    LIBSVM
  }

  /**
   * The reason why the executors cannot read a file; empty if they can.
   *
   * @param stream the file from its beginning
   * @throws MatrixFormatException if the header of a Matrix Market file is malformed
   */
  public static String obstacle(InputStream stream, String name, Content content)
      throws IOException {
    InputStream in = new BufferedInputStream(stream);
    Compression compression = Compression.of(in);
    if (compression != Compression.NONE) {
      return compression + " cannot be cut into splits";
    }
    if (content == Content.LIBSVM) {
      return "";
    }
    MatrixMarketHeader header = MatrixMarketHeader.read(in, name);
    if (content == Content.MATRIX) {
      return header.format().coordinate() ? "" : "it is an array, not coordinates";
    }
    boolean general =
        !header.format().coordinate() && header.format().symmetry() == Symmetry.GENERAL;
    return general ? "" : "it is not a general array";
  }

  /**
   * Reads a Matrix Market coordinate file.
   *
   * @throws IOException if it cannot be opened or read
   * @throws io.sparqr.error.SparseQrException if the file is malformed or does not match the
   *     right-hand side; the same as from the driver's reader
   */
  public static FileRows matrixMarket(JavaSparkContext context, Request request)
      throws IOException {
    return new CoordinateFile(context, request).read();
  }

  /**
   * Reads a libsvm file; its labels are the right-hand side unless another is given. Errors as in
   * {@link #matrixMarket}.
   */
  public static FileRows libsvm(JavaSparkContext context, Request request) throws IOException {
    return new LibsvmFile(context, request).read();
  }

  /** Rejects an empty matrix, and right-hand sides of the wrong size. */
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

  /** Rejects right-hand sides whose length is not m, and an empty set of them. */
  public static void requireRightHandSide(DenseMatrix b, long rows) {
    requireRightHandSide(b.rows(), b.columns(), rows);
  }

  /** Rejects a right-hand side without columns, or with another number of rows than A. */
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

  /** The number of rows, m. */
  public long rowCount() {
    return rowCount;
  }

  /** The number of columns, n. */
  public int columns() {
    return columns;
  }

  /** An assumption made while reading that the user should know; empty: none. */
  public String note() {
    return note;
  }

  /** Number of parts of the file, which are read in parallel. */
  public int splits() {
    return splits;
  }

  /** Persists the rows in the executors' memory or on their disks until this is closed. */
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

  /** The rows of A, which the executors read from the file. */
  public JavaRDD<SparseRow> rows() {
    return SliceRdd.of(slices).setName("rows of A");
  }

  @Override
  public void close() {
    held.close();
  }
}
