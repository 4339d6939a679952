/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.spark.cluster.ClusterResources;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * Right-hand sides from a file of little-endian float64, m x k by rows, aligned with existing rows,
 * for {@link io.sparqr.spark.QRFactorization#solve(JavaRDD)}. Tasks receive them in the same way as
 * the rows of {@link ArrayRows}.
 */
public final class ArrayLabels implements AutoCloseable {

  private final List<Broadcast<?>> sent = new ArrayList<>();
  private final JavaRDD<double[]> labels;

  private ArrayLabels(JavaSparkContext context, Path file, int k, long[] cuts, boolean send)
      throws IOException {
    long m = cuts[cuts.length - 1];
    ArrayFolder.requireLength(file, Math.multiplyExact(m, (long) k * Double.BYTES));
    labels = send ? broadcast(context, file, k, cuts) : local(context, file, k, cuts);
  }

  /**
   * The labels of a file.
   *
   * @param k values per row, at least 1
   * @param cuts starts of the partitions of the rows: {@link ArrayRows#cuts()}
   * @throws io.sparqr.error.WireFormatException if the file does not have m k numbers
   * @throws IOException if it cannot be read
   */
  public static ArrayLabels open(JavaSparkContext context, String file, int k, long[] cuts)
      throws IOException {
    return open(context, file, k, cuts, !ClusterResources.readFilesOfDriver(context));
  }

  static ArrayLabels open(JavaSparkContext context, String file, int k, long[] cuts, boolean send)
      throws IOException {
    return new ArrayLabels(context, Path.of(file), k, cuts, send);
  }

  private static JavaRDD<double[]> local(JavaSparkContext context, Path file, int k, long[] cuts) {
    String name = file.toString();
    return context
        .parallelize(numbers(cuts), cuts.length - 1)
        .flatMap(
            p -> {
              Numbers numbers = Numbers.of(Path.of(name), cuts[p] * k * Double.BYTES);
              ArrayRows.closeWithTask(numbers);
              return rows(numbers, k, cuts[p + 1] - cuts[p]);
            });
  }

  private JavaRDD<double[]> broadcast(JavaSparkContext context, Path file, int k, long[] cuts)
      throws IOException {
    List<Broadcast<byte[]>> parts = new ArrayList<>(cuts.length - 1);
    for (int p = 0; p + 1 < cuts.length; p++) {
      long row = (long) k * Double.BYTES;
      byte[] bytes = ArrayFolder.bytes(file, cuts[p] * row, (cuts[p + 1] - cuts[p]) * row);
      Broadcast<byte[]> part = context.broadcast(bytes);
      parts.add(part);
      sent.add(part);
    }
    return context
        .parallelize(numbers(cuts), parts.size())
        .flatMap(
            p -> {
              byte[] bytes = parts.get(p).value();
              return rows(
                  Numbers.of(bytes, ArrayFolder.LABELS), k, bytes.length / Double.BYTES / k);
            });
  }

  private static List<Integer> numbers(long[] cuts) {
    return IntStream.range(0, cuts.length - 1).boxed().toList();
  }

  private static Iterator<double[]> rows(Numbers numbers, int k, long count) {
    return new Iterator<>() {
      private long left = count;

      @Override
      public boolean hasNext() {
        return left > 0;
      }

      @Override
      public double[] next() {
        if (left == 0) {
          throw new NoSuchElementException();
        }
        left--;
        double[] row = new double[k];
        numbers.doubles(row);
        return row;
      }
    };
  }

  /** The right-hand sides of each row, in the order of the array. */
  public JavaRDD<double[]> labels() {
    return labels;
  }

  /** Releases the broadcasts; the file belongs to the caller. */
  @Override
  public void close() {
    sent.forEach(b -> b.destroy());
    sent.clear();
  }
}
