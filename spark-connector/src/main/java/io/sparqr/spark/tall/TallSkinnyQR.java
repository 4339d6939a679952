/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import dev.ludovic.netlib.lapack.JavaLAPACK;
import io.sparqr.backend.BackendChoice;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.numeric.dense.ChunkedProduct;
import io.sparqr.numeric.dense.SmallDense;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.device.TuningChoice;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.symbolic.Tuning;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.storage.StorageLevel;
import org.netlib.util.intW;
import scala.Tuple2;

/**
 * A = QR of a dense matrix with many more rows than columns, by its rows' partitions (TSQR: Demmel,
 * Grigori, Hoemmen, Langou 2012): each partition's rows become a triangle where they are, then
 * triangles meet in a tree of tasks of at most two stages. Q is never A R^-1, which loses its
 * orthogonality with the condition of A, but is applied, and made explicit, by the same reflectors
 * down the tree (Direct TSQR: Benson, Gleich, Demmel 2013).
 *
 * <p>The order of the partitions and of their rows alone decides on every bit: not the executors,
 * nor how often a task was repeated. Flops: 2 m n^2, as many again for Q; shuffled are n^2 values
 * for each partition. Partitions may be empty, or have fewer rows than columns.
 */
public final class TallSkinnyQR implements AutoCloseable {

  private final JavaRDD<LocalQr> local;

  /** Rows with Q: {@link #local} itself if that keeps Q. */
  private final JavaRDD<LocalQr> withQ;

  private final QStorage storage;
  private final int partitions;

  /** The triangles below each node of the first stage, and below the root of the second. */
  private final JavaPairRDD<Integer, Iterable<Triangle>> first;

  private final Optional<JavaPairRDD<Integer, Iterable<Triangle>>> second;
  private final int groups;
  private final TriangleTree tree;
  private final Triangle root;
  private boolean closed;

  private TallSkinnyQR(Builder builder, JavaRDD<?> rows) {
    storage = builder.storage;
    partitions = rows.getNumPartitions();
    local = local(rows, storage == QStorage.STORED);
    if (storage == QStorage.STORED) {
      local.persist(StorageLevel.MEMORY_ONLY());
    }
    withQ = storage == QStorage.RECOMPUTED ? local(rows, true) : local;
    JavaRDD<Triangle> leaves =
        storage == QStorage.NONE ? triangles(rows, builder.backend) : local.map(LocalQr::triangle);
    tree = new TriangleTree(leaves, builder.arity);
    first = tree.first;
    second = tree.second;
    groups = tree.groups;
    Triangle made;
    try {
      made = tree.root();
    } catch (RuntimeException | Error e) {
      release();
      throw e;
    }
    root = made;
  }

  private static <T> JavaRDD<LocalQr> local(JavaRDD<T> rows, boolean keepQ) {
    return rows.mapPartitionsWithIndex((p, it) -> LocalQr.ofRows(p, it, keepQ), true);
  }

  /** By a tuning that the driver chooses, so that every executor gives the same bits. */
  private static <T> JavaRDD<Triangle> triangles(JavaRDD<T> rows, BackendChoice backend) {
    boolean here =
        ClusterResources.useWhatDriverHas(JavaSparkContext.fromSparkContext(rows.context()));
    Tuning tuning =
        backend == BackendChoice.CPU ? Tuning.constants() : TuningChoice.logged(here).tuning();
    return rows.mapPartitionsWithIndex(
        (p, it) -> PartitionTriangle.of(p, it, backend, tuning), true);
  }

  /** Default: Q recomputed, an arity that makes two stages of equal width. */
  public static Builder builder() {
    return new Builder();
  }

  /** The options. */
  public static final class Builder {
    private QStorage storage = QStorage.RECOMPUTED;
    private Optional<Integer> arity = Optional.empty();
    private BackendChoice backend = BackendChoice.AUTO;

    private Builder() {}

    /** What becomes of Q. */
    public Builder keepQ(QStorage wanted) {
      storage = wanted;
      return this;
    }

    /**
     * Triangles that one task of the first stage reduces; the second stage has one task. Default:
     * the square root of the number of partitions. Bits depend on it.
     *
     * @throws IllegalArgumentException unless it is at least 2
     */
    public Builder arity(int triangles) {
      if (triangles < 2) {
        throw new IllegalArgumentException("arity " + triangles + ": at least 2 are needed");
      }
      arity = Optional.of(triangles);
      return this;
    }

    /**
     * Where rows are reduced if R alone is wanted ({@link QStorage#NONE}); Q is made on cores, and
     * so is R beside it. AUTO, the default: on the executor's device the partitions of at least 512
     * columns and 32 MB, on cores the others. With REQUIRE_CUDA all of them, and an executor
     * without a device is an error. Bits depend on it.
     */
    public Builder backend(BackendChoice where) {
      backend = where;
      return this;
    }

    /**
     * Factors; R is there when this returns.
     *
     * @param rows elements are {@code double[]}, {@code Vector} of spark.ml or spark.mllib, or
     *     {@code SparseRow} of weight 1 with a number of columns
     * @throws io.sparqr.error.MatrixFormatException if there are no rows, or an element is none
     * @throws DimensionMismatchException if rows differ in length, or m is less than n
     * @throws io.sparqr.error.NonFiniteValueException for NaN and infinity, with partition and row
     * @throws IllegalArgumentException if a device is required where Q is wanted
     * @throws io.sparqr.error.BackendUnavailableException if a device is required and there is none
     */
    public TallSkinnyQR factorize(JavaRDD<?> rows) {
      if (backend == BackendChoice.REQUIRE_CUDA && storage != QStorage.NONE) {
        throw new IllegalArgumentException(
            "a device reduces rows where R alone is wanted: keepQ(NONE), or another backend");
      }
      return new TallSkinnyQR(this, rows);
    }

    /** Factors a column of vectors. */
    public TallSkinnyQR factorize(Dataset<Row> data, String column) {
      return factorize(data.select(column).javaRDD().map(row -> row.get(0)));
    }
  }

  /** m. */
  public long rows() {
    return root.rows;
  }

  /** n. */
  public int columns() {
    return root.columns;
  }

  /** Partitions whose rows were reduced on a device; the others were on cores. */
  public int partitionsOnDevices() {
    return root.onDevices;
  }

  /** R, n x n, upper triangular, with a diagonal of at least 0. */
  public DenseMatrix r() {
    return new DenseMatrix(root.columns, root.columns, root.values.clone());
  }

  /**
   * The thin Q, m x n: an RDD of its rows in the partitions and the order of A's rows.
   *
   * @throws IllegalStateException if Q is not kept, or after {@link #close}
   */
  public JavaRDD<double[]> q() {
    return product(identity(root.columns), root.columns);
  }

  /**
   * Q C in the partitions and the order of A's rows.
   *
   * @param c n x k
   * @throws DimensionMismatchException if it has not n rows
   * @throws IllegalStateException if Q is not kept, or after {@link #close}
   */
  public JavaRDD<double[]> qTimes(DenseMatrix c) {
    requireRows("C", c.numRows());
    return product(c.toArray(), c.numCols());
  }

  /** Q C: down the tree, then to the rows. */
  private JavaRDD<double[]> product(double[] c, int width) {
    requireQ();
    var block = new Triangle(0, root.columns, width, c, 0, root.checksum);
    JavaRDD<Triangle> below = second.map(top -> down(top, block)).orElse(null);
    JavaRDD<Triangle> leaves =
        below == null
            ? down(first, block)
            : first.zipPartitions(placed(below, groups), (g, b) -> TallSkinnyQR.down(g, b));
    return withQ.zipPartitions(placed(leaves, partitions), (q, b) -> TallSkinnyQR.rows(q, b));
  }

  private static JavaRDD<Triangle> down(
      JavaPairRDD<Integer, Iterable<Triangle>> nodes, Triangle block) {
    return nodes.flatMap(
        g -> {
          LocalQr qr = LocalQr.ofTriangles(g._1, g._2, true);
          return qr.split(qr.times(block), block.columns);
        });
  }

  private static Iterator<Triangle> down(
      Iterator<Tuple2<Integer, Iterable<Triangle>>> node, Iterator<Triangle> block) {
    if (!node.hasNext()) {
      return List.<Triangle>of().iterator();
    }
    Tuple2<Integer, Iterable<Triangle>> g = node.next();
    LocalQr qr = LocalQr.ofTriangles(g._1, g._2, true);
    Triangle b = block.next();
    return qr.split(qr.times(b), b.columns);
  }

  private static JavaRDD<Triangle> placed(JavaRDD<Triangle> blocks, int parts) {
    return blocks
        .mapToPair(t -> new Tuple2<>(t.node, t))
        .partitionBy(new HashPartitioner(parts))
        .values();
  }

  private static Iterator<double[]> rows(Iterator<LocalQr> local, Iterator<Triangle> block) {
    if (!local.hasNext()) {
      return List.<double[]>of().iterator();
    }
    LocalQr qr = local.next();
    Triangle b = block.next();
    double[] c = qr.times(b);
    int height = (int) qr.rows();
    return new Iterator<>() {
      private int i;

      @Override
      public boolean hasNext() {
        return i < height;
      }

      @Override
      public double[] next() {
        double[] row = new double[b.columns];
        for (int k = 0; k < row.length; k++) {
          row[k] = c[i + k * height];
        }
        i++;
        return row;
      }
    };
  }

  /**
   * Q'B, n x k; a task holds a chunk of rows of B at a time, so that k may be some thousand.
   *
   * @param b rows of B, k values each, in the partitions and the order of A's rows
   * @throws DimensionMismatchException if a partition has another number of rows than A's, or rows
   *     differ in length
   * @throws NonFiniteValueException for NaN and infinity
   * @throws io.sparqr.error.InputChangedException if A's rows had to be read again and were others
   * @throws IllegalStateException if Q is not kept, or after {@link #close}
   */
  public DenseMatrix qTransposed(JavaRDD<double[]> b) {
    requireQ();
    if (b.getNumPartitions() != partitions) {
      throw new DimensionMismatchException(
          "%d partitions, the matrix has %d".formatted(b.getNumPartitions(), partitions),
          "partitions",
          partitions,
          b.getNumPartitions());
    }
    int width = tree.arity;
    JavaPairRDD<Integer, Iterable<Triangle>> ofFirst =
        withQ
            .zipPartitions(b, (q, rows) -> TallSkinnyQR.transposed(q, rows))
            .mapToPair(t -> new Tuple2<>(t.node / width, t))
            .groupByKey(new HashPartitioner(groups));
    JavaRDD<Triangle> tops = up(first, ofFirst);
    if (second.isPresent()) {
      tops =
          up(
              second.get(),
              tops.mapToPair(t -> new Tuple2<>(0, t)).groupByKey(new HashPartitioner(1)));
    }
    JavaRDD<Triangle> all = tops;
    Triangle top = SparkErrors.unwrap(all::collect).get(0);
    if (top.checksum != root.checksum) {
      throw LocalQr.changedBelow(0);
    }
    return new DenseMatrix(top.height, top.columns, top.values);
  }

  private static JavaRDD<Triangle> up(
      JavaPairRDD<Integer, Iterable<Triangle>> nodes,
      JavaPairRDD<Integer, Iterable<Triangle>> blocks) {
    return nodes.zipPartitions(
        blocks,
        (g, b) -> {
          if (!g.hasNext()) {
            return List.<Triangle>of().iterator();
          }
          Tuple2<Integer, Iterable<Triangle>> node = g.next();
          LocalQr qr = LocalQr.ofTriangles(node._1, node._2, true);
          Iterable<Triangle> below = b.next()._2;
          int columns = below.iterator().next().columns;
          return List.of(qr.transposedTimes(qr.stacked(below), columns)).iterator();
        });
  }

  private static Iterator<Triangle> transposed(Iterator<LocalQr> local, Iterator<double[]> rows) {
    if (!local.hasNext()) {
      if (rows.hasNext()) {
        throw misaligned("more", 0);
      }
      return List.<Triangle>of().iterator();
    }
    LocalQr qr = local.next();
    if (!rows.hasNext()) {
      throw misaligned("0", qr.rows());
    }
    double[] row = rows.next();
    int width = row.length;
    ChunkedProduct product = qr.product(width);
    int height = (int) qr.rows();
    for (int i = 0; i < height; i++) {
      if (row.length != width) {
        throw new DimensionMismatchException(
            "row %d of the right-hand sides has %d values, those before it %d"
                .formatted(i, row.length, width),
            "right-hand sides",
            width,
            row.length);
      }
      for (int k = 0; k < width; k++) {
        if (!Double.isFinite(row[k])) {
          throw new NonFiniteValueException(
              "row %d of a partition of right-hand sides has %s at %d".formatted(i, row[k], k),
              i,
              k);
        }
      }
      product.row(row);
      if (i + 1 < height) {
        if (!rows.hasNext()) {
          throw misaligned("" + (i + 1), height);
        }
        row = rows.next();
      }
    }
    if (rows.hasNext()) {
      throw misaligned("more", height);
    }
    return List.of(qr.transposed(product, width)).iterator();
  }

  private static DimensionMismatchException misaligned(String here, long rows) {
    return new DimensionMismatchException(
        "a partition of right-hand sides has %s rows, the matrix %d there".formatted(here, rows),
        "right-hand sides",
        rows,
        -1);
  }

  /**
   * X of least ||A X - B||, n x k, by R X = Q'B.
   *
   * @param b as of {@link #qTransposed}; a label is a row of one value
   * @throws RankDeficientException if R has a zero on its diagonal; {@link #rank} tells of columns
   *     that are nearly so
   */
  public DenseMatrix solve(JavaRDD<double[]> b) {
    int n = root.columns;
    for (int j = 0; j < n; j++) {
      if (root.values[j + j * n] == 0) {
        throw new RankDeficientException(
            "column %d is a combination of those before it".formatted(j), rank(0).rank(), n);
      }
    }
    DenseMatrix c = qTransposed(b);
    double[] x = c.toArray();
    var info = new intW(0);
    JavaLAPACK.getInstance().dtrtrs("U", "N", "N", n, c.numCols(), root.values, n, x, n, info);
    return new DenseMatrix(n, c.numCols(), x);
  }

  /**
   * The numerical rank, by QR of R with column pivoting (Businger and Golub 1965; LAPACK's dgeqp3).
   *
   * @param tolerance relative to the largest column norm
   */
  public Rank rank(double tolerance) {
    int n = root.columns;
    int[] pivot = new int[n];
    int rank = SmallDense.rank(root.values, n, tolerance, pivot);
    return new Rank(rank, pivot);
  }

  /**
   * A numerical rank.
   *
   * @param rank columns that are independent
   * @param permutation size n: the columns in the order of their pivots; the first {@code rank} of
   *     them are independent
   */
  public record Rank(int rank, int[] permutation) {

    @Override
    public String toString() {
      return "Rank[%d of %d, %s]".formatted(rank, permutation.length, Arrays.toString(permutation));
    }
  }

  /**
   * The k largest singular values and their vectors: the SVD of R by LAPACK (dgesdd), and U = Q
   * U_R. Errors of the singular values are of the size n eps sigma_1, where those of A'A's
   * eigenvalues lose all digits below sqrt(eps) sigma_1.
   *
   * @throws IllegalArgumentException unless k is from 1 to n
   * @throws IllegalStateException after {@link #close}, or if LAPACK does not converge
   */
  public Svd svd(int k) {
    requireOpen();
    int n = root.columns;
    if (k < 1 || k > n) {
      throw new IllegalArgumentException(k + " singular values of a matrix of " + n + " columns");
    }
    double[] sigma = new double[n];
    double[] u = new double[n * n];
    double[] vt = new double[n * n];
    SmallDense.svd(root.values, n, sigma, u, vt);
    double[] v = new double[n * k];
    for (int j = 0; j < k; j++) {
      for (int i = 0; i < n; i++) {
        v[i + j * n] = vt[j + i * n];
      }
    }
    return new Svd(
        this,
        Arrays.copyOf(sigma, k),
        new DenseMatrix(n, k, v),
        new DenseMatrix(n, k, Arrays.copyOf(u, n * k)));
  }

  /** Some of a singular value decomposition A = U S V'. */
  public static final class Svd {
    private final TallSkinnyQR qr;
    private final double[] sigma;
    private final DenseMatrix v;
    private final DenseMatrix ofR;

    private Svd(TallSkinnyQR qr, double[] sigma, DenseMatrix v, DenseMatrix ofR) {
      this.qr = qr;
      this.sigma = sigma;
      this.v = v;
      this.ofR = ofR;
    }

    /** Size k, descending. */
    public double[] sigma() {
      return sigma.clone();
    }

    /** n x k. */
    public DenseMatrix v() {
      return v;
    }

    /** m x k, in the partitions and the order of A's rows; as {@link TallSkinnyQR#q}. */
    public JavaRDD<double[]> u() {
      return qr.qTimes(ofR);
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the factorization is closed");
    }
  }

  private void requireQ() {
    requireOpen();
    if (storage == QStorage.NONE) {
      throw new IllegalStateException("Q was not kept: keepQ(STORED) or keepQ(RECOMPUTED)");
    }
  }

  private void requireRows(String what, int rows) {
    if (rows != root.columns) {
      throw new DimensionMismatchException(
          "%s has %d rows, Q %d columns".formatted(what, rows, root.columns),
          what,
          root.columns,
          rows);
    }
  }

  private static double[] identity(int n) {
    double[] one = new double[Math.multiplyExact(n, n)];
    for (int j = 0; j < n; j++) {
      one[j + j * n] = 1;
    }
    return one;
  }

  /** Releases what executors keep. */
  @Override
  public void close() {
    if (!closed) {
      release();
    }
    closed = true;
  }

  private void release() {
    if (storage == QStorage.STORED) {
      local.unpersist(false);
    }
  }
}
