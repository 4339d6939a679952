/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.LaterReading;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.rows.SortedPairs;
import io.sparqr.spark.solve.SemiNormalEquations;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * A' for an A given by rows: the columns of A as rows, from a shuffle of A's entries, and kept.
 * Entries are divided by a power of two, so that the largest is near 1.
 */
final class TransposedRows {

  /** Powers of two up to this exponent scale exactly in both directions. */
  static final int MOST_EXPONENT = 1000;

  private final JavaPairRDD<Integer, SparseRow> rows;
  private final int m;
  private final int n;
  private final int exponent;

  /**
   * @param a A's rows
   * @param declared number of columns of A as given by the caller, or -1
   * @param readings fingerprints of A's rows from their first reading
   * @param n columns of A
   * @param width labels of each row of A', all 0
   * @param exponent entries are divided by 2^exponent; see {@link #exponent(double[], int, int)}
   * @param held keeps the result
   */
  TransposedRows(
      JavaRDD<SparseRow> a,
      int declared,
      Readings readings,
      int n,
      int width,
      int exponent,
      Held held) {
    int[] first = new int[readings.partitions() + 1];
    for (int p = 0; p < readings.partitions(); p++) {
      first[p + 1] = Math.addExact(first[p], (int) readings.of(p).rows());
    }
    int rowCount = first[readings.partitions()];
    this.m = rowCount;
    this.n = n;
    this.exponent = exponent;
    JavaRDD<Tuple2<Integer, Tuple2<Integer, Double>>> entries =
        JobScope.named(
            JavaSparkContext.fromSparkContext(a.context()),
            "entries of the transpose",
            () ->
                a.mapPartitionsWithIndex(
                    (p, it) -> {
                      var reader = new RowReader(p, declared);
                      var reading = new LaterReading(reader, p, it, readings, true);
                      return new Entries(reader, reading, first[p], exponent);
                    },
                    false));
    rows =
        JavaPairRDD.fromJavaRDD(entries)
            .partitionBy(new HashPartitioner(a.getNumPartitions()))
            .mapPartitionsToPair(it -> columns(it, rowCount, width), true);
    held.persist(rows, StorageLevel.MEMORY_AND_DISK());
  }

  /**
   * The maximum of {@code atLeast} and the exponents of the first count values, but at most {@link
   * #MOST_EXPONENT}.
   */
  static int exponent(double[] value, int count, int atLeast) {
    int largest = atLeast;
    for (int k = 0; k < count; k++) {
      largest = Math.max(largest, Math.getExponent(value[k]));
    }
    return Math.min(largest, MOST_EXPONENT);
  }

  /** Rows of A, m. */
  int rows() {
    return m;
  }

  /** Columns of A, n. */
  int columns() {
    return n;
  }

  /** A's entries were divided by 2 to this power. */
  int exponent() {
    return exponent;
  }

  /** n rows of m columns. */
  RowSource source() {
    return RowSource.of(rows.values());
  }

  /**
   * Products with this matrix.
   *
   * @param labels computes A'y from the rows with labels y
   */
  SemiNormalEquations.Products products(Function<RowSource, double[][]> labels) {
    return new SemiNormalEquations.Products() {
      @Override
      public double[][] times(double[][] z) {
        return TransposedRows.this.times(z);
      }

      @Override
      public double[][] transposed(double[][] y) {
        try (var held = new Held()) {
          Broadcast<double[][]> given = held.keep(context().broadcast(y));
          return labels.apply(RowSource.of(rows.map(t -> labeled(t._1(), t._2(), given.value()))));
        }
      }
    };
  }

  private double[][] times(double[][] z) {
    double[][] product = new double[z.length][n];
    try (var held = new Held()) {
      Broadcast<double[][]> given = held.keep(context().broadcast(z));
      JavaRDD<Tuple2<Integer, double[]>> products =
          rows.map(t -> new Tuple2<>(t._1(), times(t._2(), given.value())));
      for (Tuple2<Integer, double[]> t :
          JobScope.run(context(), "A z, for the minimum norm", products::collect)) {
        for (int k = 0; k < product.length; k++) {
          product[k][t._1()] = t._2()[k];
        }
      }
    }
    return product;
  }

  private JavaSparkContext context() {
    return JavaSparkContext.fromSparkContext(rows.context());
  }

  private static double[] times(SparseRow row, double[][] z) {
    double[] sum = new double[z.length];
    for (int k = 0; k < z.length; k++) {
      for (int e = 0; e < row.indices().length; e++) {
        sum[k] += row.values()[e] * z[k][row.indices()[e]];
      }
    }
    return sum;
  }

  private static SparseRow labeled(int j, SparseRow row, double[][] y) {
    double[] labels = new double[y.length];
    for (int k = 0; k < labels.length; k++) {
      labels[k] = y[k][j];
    }
    return new SparseRow(row.indices(), row.values(), labels, row.weight(), row.columns());
  }

  /** The pairs (j, row j of A'), j ascending. */
  private static Iterator<Tuple2<Integer, SparseRow>> columns(
      Iterator<Tuple2<Integer, Tuple2<Integer, Double>>> in, int m, int width) {
    var byColumn = new TreeMap<Integer, List<Tuple2<Integer, Double>>>();
    in.forEachRemaining(t -> byColumn.computeIfAbsent(t._1(), j -> new ArrayList<>()).add(t._2()));
    return byColumn.entrySet().stream()
        .map(e -> new Tuple2<>(e.getKey(), row(e.getValue(), m, width)))
        .iterator();
  }

  private static SparseRow row(List<Tuple2<Integer, Double>> entries, int m, int width) {
    int[] index = new int[entries.size()];
    double[] value = new double[index.length];
    for (int k = 0; k < index.length; k++) {
      index[k] = entries.get(k)._1();
      value[k] = entries.get(k)._2();
    }
    SortedPairs.sort(index, value, index.length);
    return new SparseRow(index, value, new double[width], 1, m);
  }

  /** (column, (row, value)) of every entry of a partition. */
  private static final class Entries implements Iterator<Tuple2<Integer, Tuple2<Integer, Double>>> {
    private final RowReader reader;
    private final LaterReading rows;
    private final int exponent;
    private int row;
    private int at;
    private int count;

    Entries(RowReader reader, LaterReading rows, int first, int exponent) {
      this.reader = reader;
      this.rows = rows;
      this.exponent = exponent;
      this.row = first - 1;
    }

    @Override
    public boolean hasNext() {
      while (at == count && rows.next()) {
        row++;
        at = 0;
        count = reader.count();
      }
      if (at == count && rows.changed().isPresent()) {
        throw rows.changed().get();
      }
      return at < count;
    }

    @Override
    public Tuple2<Integer, Tuple2<Integer, Double>> next() {
      if (!hasNext()) {
        throw new java.util.NoSuchElementException();
      }
      int column = reader.index()[at];
      double value = Math.scalb(reader.value()[at++], -exponent);
      return new Tuple2<>(column, new Tuple2<>(row, value));
    }
  }
}
