/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.spark.file.FileRows;
import io.sparqr.spark.file.FileRows.Content;
import io.sparqr.spark.file.Labels;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Rows from Matrix Market and libsvm files on any Hadoop file system ({@code file:}, {@code hdfs:},
 * {@code s3a:}, ...), parsed by the executors:
 *
 * <pre>{@code
 * JavaRDD<SparseRow> rows = MatrixFiles.matrixMarket(sc, "hdfs:///data/A.mtx", "hdfs:///data/b.mtx");
 * double[] x = GpuSparseQR.solve(rows).x();
 * }</pre>
 *
 * <p>The file is split at multiples of its block size (Hadoop's {@code
 * mapreduce.input.fileinputformat.split.*} apply) and parsed once, when the method is called.
 * Errors are thrown at that point, with file and line. The parsed entries stay on the executors (as
 * shuffle files, or cached) while the RDD is in use. Rows are in file order, and each carries the
 * number of columns. Plain text only, because gzip cannot be split; {@code io.sparqr.matrix} reads
 * it in one JVM.
 */
public final class MatrixFiles {

  private MatrixFiles() {}

  /**
   * The rows of a coordinate file with a right-hand side of zeros, for {@link
   * SparseQRSolver#factorize(JavaRDD)} and later right-hand sides. Rows without entries are
   * included.
   *
   * @throws IOException if the file cannot be opened or read
   * @throws io.sparqr.error.MatrixFormatException if it is malformed, packed, an array, or has no
   *     rows or columns
   * @throws io.sparqr.error.NonFiniteValueException at NaN, infinity or a number beyond the double
   *     range
   */
  public static JavaRDD<SparseRow> matrixMarket(JavaSparkContext context, String matrix)
      throws IOException {
    return FileRows.matrixMarket(
            context, new FileRows.Request(matrix, matrix, false, Labels.ZERO, null, null, 0))
        .rows();
  }

  /**
   * The rows of a coordinate file with the rows of an m x k Matrix Market file (array or
   * coordinate, plain or gzip) as labels. A plain general array is read by the executors, twice;
   * any other form is read by the driver and broadcast (8 m k bytes).
   *
   * @throws io.sparqr.error.DimensionMismatchException if the files differ in the number of rows;
   *     other errors as in {@link #matrixMarket(JavaSparkContext, String)}
   */
  public static JavaRDD<SparseRow> matrixMarket(
      JavaSparkContext context, String matrix, String rightHandSide) throws IOException {
    Path path = new Path(rightHandSide);
    FileSystem files = path.getFileSystem(context.hadoopConfiguration());
    boolean split;
    try (InputStream in = files.open(path)) {
      split = FileRows.obstacle(in, rightHandSide, Content.RIGHT_HAND_SIDE).isEmpty();
    }
    DenseMatrix b = null;
    if (!split) {
      try (InputStream in = files.open(path)) {
        b = MatrixMarket.readDense(in, rightHandSide);
      }
    }
    var source = split ? new FileRows.Source(rightHandSide, rightHandSide) : null;
    return FileRows.matrixMarket(
            context, new FileRows.Request(matrix, matrix, false, Labels.ZERO, b, source, 0))
        .rows();
  }

  /**
   * The rows and labels of a libsvm file. Indices count from 1, or from 0 if there is a 0 in the
   * file; n follows from the greatest index. Errors as in {@link #matrixMarket(JavaSparkContext,
   * String)}.
   */
  public static JavaRDD<SparseRow> libsvm(JavaSparkContext context, String file)
      throws IOException {
    return FileRows.libsvm(
            context, new FileRows.Request(file, file, false, Labels.ZERO, null, null, 0))
        .rows();
  }
}
