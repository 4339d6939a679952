/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.file.FileRows;
import io.sparqr.spark.file.Labels;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a matrix as for {@code --matrix}, for the Python package: with the readers of the
 * command line and their choice between driver and executors. Valid until closed.
 */
public final class MatrixRows implements AutoCloseable {

  private final JavaRDD<SparseRow> rows;
  private final long rowCount;
  private final int columns;
  private final AutoCloseable source;

  private MatrixRows(JavaRDD<SparseRow> rows, long rowCount, int columns, AutoCloseable source) {
    this.rows = rows;
    this.rowCount = rowCount;
    this.columns = columns;
    this.source = source;
  }

  /**
   * The data beside the matrix.
   *
   * @param file a file of right-hand sides, m x k, as for {@code --rhs}; empty: none
   * @param raw a file of little-endian float64 on the driver's machine, by columns, m x k; empty:
   *     none
   * @param rawColumns number of columns of {@code raw}
   * @param weighted whether the last column holds the weights
   */
  public record Beside(String file, String raw, int rawColumns, boolean weighted) {}

  /**
   * Opens the matrix; on return the files have been read and checked.
   *
   * @param matrix as for {@code --matrix}
   * @param beside right-hand sides and weights; without any, the rows of a libsvm file have its
   *     labels, and the labels of other rows are unspecified
   * @param partitions 0: as many as the cluster has cores
   * @throws IllegalArgumentException if the format cannot be recognized, or a specification is
   *     invalid
   * @throws IOException if a file cannot be opened or read
   * @throws io.sparqr.error.SparseQrException if it is malformed, or the sizes do not match
   */
  public static MatrixRows open(SparkSession session, String matrix, Beside beside, int partitions)
      throws IOException {
    MatrixRows all;
    try {
      all = read(session, matrix, beside, partitions);
    } catch (UsageException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    return beside.weighted ? all.weighted() : all;
  }

  /** Whether the file has its own labels, as a libsvm file does. */
  public static boolean labeled(String matrix) throws IOException {
    try {
      requireFile(matrix);
      return MatrixFormat.of(matrix) == MatrixFormat.LIBSVM;
    } catch (UsageException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static MatrixRows read(SparkSession session, String matrix, Beside beside, int partitions)
      throws IOException {
    var context = JavaSparkContext.fromSparkContext(session.sparkContext());
    int parts = partitions > 0 ? partitions : context.defaultParallelism();
    requireFile(matrix);
    MatrixFormat format = MatrixFormat.of(matrix);
    DenseMatrix b = rightHandSide(beside);
    if (format == MatrixFormat.PARQUET || format == MatrixFormat.CSV) {
      var table = new TripletRows.Table(matrix, format, null);
      TripletRows rows = new TripletRows(session, table, false, b, parts);
      return new MatrixRows(rows.rows(), rows.rowCount(), rows.columns(), rows);
    }
    boolean near = ClusterResources.readFilesOfDriver(context);
    Reader.Choice choice = Reader.AUTO.choose(matrix, format, false, near);
    if (!choice.executors()) {
      LocalProblem problem = LocalProblem.read(new LocalProblem.Source(matrix, format), false, b);
      var rows = new DriverRows(context, problem, parts);
      return new MatrixRows(rows.rows(), problem.a().rows(), problem.a().columns(), rows);
    }
    var request =
        new FileRows.Request(
            matrix, MatrixFormat.uri(matrix), false, Labels.ZERO, b, null, partitions);
    FileRows rows =
        format == MatrixFormat.LIBSVM
            ? FileRows.libsvm(context, request)
            : FileRows.matrixMarket(context, request);
    rows.persist();
    return new MatrixRows(rows.rows(), rows.rowCount(), rows.columns(), rows);
  }

  /** Files are opened several times, and by several threads. */
  private static void requireFile(String name) {
    if (!Gallery.isSpec(name) && Piped.is(name)) {
      throw new UsageException(name + ": a pipe, not a file (the command line reads pipes)");
    }
  }

  private static @Nullable DenseMatrix rightHandSide(Beside beside) throws IOException {
    if (!beside.file.isEmpty()) {
      requireFile(beside.file);
      return RightHandSide.read(beside.file);
    }
    return beside.raw.isEmpty() ? null : dense(Path.of(beside.raw), beside.rawColumns);
  }

  private static DenseMatrix dense(Path file, int columns) throws IOException {
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      double[] values = new double[Math.toIntExact(in.size() / Double.BYTES)];
      ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 17).order(ByteOrder.LITTLE_ENDIAN);
      int done = 0;
      while (done < values.length) {
        if (in.read(buffer) < 0) {
          throw new IOException(file + " ends too early");
        }
        buffer.flip();
        int some = buffer.remaining() / Double.BYTES;
        buffer.asDoubleBuffer().get(values, done, some);
        done += some;
        buffer.position(some * Double.BYTES).compact();
      }
      return new DenseMatrix(values.length / columns, columns, values);
    }
  }

  /** Turns the last label of every row into its weight. */
  private MatrixRows weighted() {
    JavaRDD<SparseRow> weighted =
        rows.map(
            r -> {
              double[] labels = r.labels();
              int k = labels.length - 1;
              return new SparseRow(
                  r.indices(),
                  r.values(),
                  k == 0 ? new double[1] : Arrays.copyOf(labels, k),
                  labels[k],
                  r.columns());
            });
    return new MatrixRows(weighted, rowCount, columns, source);
  }

  /** The rows of A with their right-hand sides. */
  public JavaRDD<SparseRow> rows() {
    return rows;
  }

  /** The number of rows, m. */
  public long rowCount() {
    return rowCount;
  }

  /** The number of columns, n. */
  public int columns() {
    return columns;
  }

  /** Starts of the partitions: size partitions+1, from 0 to m; takes a pass over the rows. */
  public long[] cuts() {
    long[] cut = new long[rows.getNumPartitions() + 1];
    var counts =
        rows.mapPartitions(
                it -> {
                  long count = 0;
                  while (it.hasNext()) {
                    it.next();
                    count++;
                  }
                  return java.util.List.of(count).iterator();
                })
            .collect();
    for (int p = 0; p < counts.size(); p++) {
      cut[p + 1] = cut[p] + counts.get(p);
    }
    return cut;
  }

  @Override
  public void close() {
    try {
      source.close();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
