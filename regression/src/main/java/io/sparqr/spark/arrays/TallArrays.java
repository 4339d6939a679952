/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.tall.DenseQR;
import io.sparqr.spark.tall.QStorage;
import io.sparqr.spark.tall.TallSkinnyQR;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/** Factors of dense matrices for Python, as files of little-endian doubles or as a Dataset. */
public final class TallArrays {

  private static final int BUFFER = 1 << 17;

  private TallArrays() {}

  /**
   * Writes rows one after the other; the driver holds a partition at a time.
   *
   * @param file new
   * @throws IOException if it cannot be written
   */
  public static void write(JavaRDD<double[]> rows, String file) throws IOException {
    Iterator<double[]> each = SparkErrors.unwrap(rows::toLocalIterator);
    try (FileChannel out = create(file)) {
      ByteBuffer buffer = buffer();
      while (SparkErrors.unwrap(each::hasNext)) {
        put(each.next(), buffer, out);
      }
      flush(buffer, out);
    }
  }

  /**
   * QR of any shape on the driver, by its device where that pays ({@link DenseQR}): writes R, h x
   * n, and Q, m x h or m x m, h the smaller of m and n, both by rows.
   *
   * @param rows each with its number of columns
   * @param m their number
   * @param complete whether Q has all m columns
   * @param folder where the files {@code r} and {@code q} do not exist yet
   * @throws InsufficientMemoryException before any work if it does not fit an array, or half of the
   *     heap
   * @throws IOException if a file cannot be written
   */
  public static void factor(JavaRDD<SparseRow> rows, long m, int n, boolean complete, String folder)
      throws IOException {
    long height = Math.min(m, n);
    double width = complete ? m : height;
    // A, its reflectors, and R by columns and by rows; Q, too, but for a full one
    double q = (complete ? 1.0 : 2.0) * m * width;
    double bytes = 8 * (q + (double) m * n + (double) m * height + 2.0 * height * n);
    long room = Runtime.getRuntime().maxMemory() / 2;
    double longest = Math.max(m * width, (double) m * n + m);
    if (bytes > room || longest > Integer.MAX_VALUE - 8) {
      throw new InsufficientMemoryException(
          "Q of %d x %.0f takes %.0f MB on the driver, which has %d; mode \"reduced\" is spread over executors"
              .formatted(m, width, bytes / (1 << 20), room >> 20),
          (long) bytes,
          room);
    }
    if (m == 0) {
      write(new double[0], folder, "r");
      write(new double[0], folder, "q");
      return;
    }
    double[] a = new double[(int) (m * n)];
    Iterator<SparseRow> each = SparkErrors.unwrap(rows::toLocalIterator);
    for (int i = 0; SparkErrors.unwrap(each::hasNext); i++) {
      SparseRow row = each.next();
      for (int e = 0; e < row.indices().length; e++) {
        a[i * n + row.indices()[e]] = row.values()[e];
      }
    }
    try (DenseQR qr = DenseQR.builder().keepQ().factorize(a, (int) m, n)) {
      write(qr.r(), folder, "r");
      write(complete ? qr.fullQ() : qr.thinQ(), folder, "q");
    }
  }

  private static void write(double[] values, String folder, String name) throws IOException {
    try (FileChannel out = create(Path.of(folder, name).toString())) {
      ByteBuffer buffer = buffer();
      put(values, buffer, out);
      flush(buffer, out);
    }
  }

  /** Rows of Q or U as vectors, in a column of this name; nothing is computed yet. */
  public static Dataset<Row> table(SparkSession session, JavaRDD<double[]> rows, String column) {
    StructField field = DataTypes.createStructField(column, SQLDataTypes.VectorType(), false);
    return session.createDataFrame(
        rows.map(row -> RowFactory.create(Vectors.dense(row))),
        DataTypes.createStructType(List.of(field)));
  }

  /** A column of vectors, factored with Q made again whenever it is read, or for R alone. */
  public static TallSkinnyQR factorize(Dataset<Row> data, String column, boolean withQ) {
    QStorage storage = withQ ? QStorage.RECOMPUTED : QStorage.NONE;
    return TallSkinnyQR.builder().keepQ(storage).factorize(data, column);
  }

  private static void put(double[] values, ByteBuffer buffer, FileChannel out) throws IOException {
    for (double x : values) {
      if (buffer.remaining() < Double.BYTES) {
        flush(buffer, out);
      }
      buffer.putDouble(x);
    }
  }

  private static ByteBuffer buffer() {
    return ByteBuffer.allocateDirect(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static FileChannel create(String file) throws IOException {
    return FileChannel.open(Path.of(file), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  private static void flush(ByteBuffer buffer, FileChannel out) throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      out.write(buffer);
    }
    buffer.clear();
  }
}
