/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.numeric.lowrank.DensePursuit;
import io.sparqr.numeric.lowrank.PlacedPursuit;
import io.sparqr.numeric.lowrank.Pursuit;
import io.sparqr.numeric.lowrank.PursuitIteration;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.numeric.lowrank.PursuitOptimality;
import io.sparqr.numeric.lowrank.PursuitOptions;
import io.sparqr.numeric.lowrank.PursuitPart;
import io.sparqr.numeric.lowrank.PursuitStep;
import io.sparqr.spark.device.LocalDevice;
import io.sparqr.spark.model.SparseRow;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * M = L + S of a dense matrix with many more rows than columns, L of low rank and S sparse: Robust
 * PCA by principal component pursuit, min ||L||_* + lambda ||S||_1 (Candes, Li, Ma, Wright 2011),
 * as in section VI of Anderson, Ballard, Demmel, Keutzer 2011 on communication-avoiding QR. A video
 * whose columns are frames becomes background and moving figures.
 *
 * <p>An iteration is one job: TSQR of W = M - S + Y / mu, the SVD of its R on the driver, one
 * broadcast, and one pass over the rows, L = W V max(1 - t / sigma, 0) V', which needs no Q.
 * Singular values are those of R, by LAPACK, not roots of eigenvalues of W'W. Flops: 2 m n^2 + 4 m
 * n r, r the rank of L. Executors keep M, S and Y twice, 40 m n bytes, on disk where memory does
 * not suffice; afterwards 8 m r bytes and the entries of S.
 *
 * <p>All noise of M is in S, so that S has few entries only where L fits the others exactly. The
 * order of the partitions and of their rows decides on every bit, the executors do not.
 */
public final class RobustPca implements AutoCloseable {

  private final PursuitJobs jobs;
  private final Pursuit pursuit;
  private final JavaRDD<PursuitPart> parts;
  private final Broadcast<PursuitStep> last;

  /** Of F, whose product with V_r' is L; none of rank 0. */
  private final Optional<TallSkinnyQR.Svd> svd;

  private final Optional<TallSkinnyQR> qr;
  private final DenseMatrix v;
  private final PursuitOptimality optimality;
  private boolean closed;

  /** Iterations that a decomposition takes at least, for the choice of a place. */
  private static final double FEW_ITERATIONS = 20;

  private RobustPca(PursuitJobs jobs) {
    this.jobs = jobs;
    pursuit = jobs.pursuit();
    last = jobs.last();
    parts = jobs.parts();
    int rank = last.value().rank();
    if (rank == 0) {
      parts.count();
      qr = Optional.empty();
      svd = Optional.empty();
      v = new DenseMatrix(jobs.columns(), 0, new double[0]);
    } else {
      qr = Optional.of(TallSkinnyQR.builder().factorize(parts.flatMap(RobustPca::factors)));
      svd = qr.map(made -> made.svd(rank));
      double[] turned = svd.map(TallSkinnyQR.Svd::v).orElseThrow().transpose().toArray();
      v = new DenseMatrix(jobs.columns(), rank, last.value().turned(turned));
    }
    Triangle dual = jobs.dual();
    optimality = pursuit.optimality(sigma(), dual.values, dual.tally);
    jobs.releaseState();
  }

  /** Default: inexact augmented Lagrangians, lambda = 1 / sqrt(m), to 1e-7. */
  public static Builder builder() {
    return new Builder();
  }

  /** The options. */
  public static final class Builder {
    private PursuitOptions options = PursuitOptions.DEFAULTS;
    private BackendChoice backend = BackendChoice.AUTO;

    private Builder() {}

    /**
     * Where {@link #decompose(double[][])} iterates; default AUTO: on a device of this JVM where
     * there is one and the iterations are worth it. Rows of Spark are for the executors' cores.
     */
    public Builder backend(BackendChoice choice) {
      backend = choice;
      return this;
    }

    /** The method; the solution is the same. */
    public Builder method(PursuitMethod wanted) {
      options = options.withMethod(wanted);
      return this;
    }

    /**
     * The weight of the sparse part: a larger one gives fewer entries of S and a higher rank of L.
     * Default: 1 / sqrt(max(m, n)), by which L and S are recovered exactly wherever that is proved.
     *
     * @throws IllegalArgumentException unless it is finite and above 0
     */
    public Builder lambda(double weight) {
      options = options.withLambda(weight);
      return this;
    }

    /**
     * The residual ||M - L - S||_F / ||M||_F at which iterations end; default 1e-7.
     *
     * @throws IllegalArgumentException unless it is above 0 and below 1
     */
    public Builder tolerance(double wanted) {
      options = options.withTolerance(wanted);
      return this;
    }

    /**
     * Iterations at most; default 1000. Fewer than needed are no error, but a warning.
     *
     * @throws IllegalArgumentException unless it is at least 1
     */
    public Builder maxIterations(int most) {
      options = options.withMaxIterations(most);
      return this;
    }

    /**
     * Decomposes rows, which are read once.
     *
     * @param rows elements are {@code double[]}, {@code Vector} of spark.ml or spark.mllib, or
     *     {@code SparseRow} of weight 1 with a number of columns
     * @throws MatrixFormatException if there are no rows, an element is none, or all values are 0
     * @throws DimensionMismatchException if rows differ in length, or m is less than n
     * @throws io.sparqr.error.NonFiniteValueException for NaN and infinity, with partition and row
     * @throws io.sparqr.error.InputChangedException if rows had to be read again and were others
     */
    public RobustPca decompose(JavaRDD<?> rows) {
      PursuitJobs jobs = PursuitJobs.run(rows, options);
      try {
        return new RobustPca(jobs);
      } catch (RuntimeException | Error e) {
        jobs.close();
        throw e;
      }
    }

    /** Decomposes a column of vectors. */
    public RobustPca decompose(Dataset<Row> data, String column) {
      return decompose(data.select(column).javaRDD().map(row -> row.get(0)));
    }

    /**
     * Decomposes a matrix in this JVM, without Spark, by all its processors or a device; the result
     * and the log say which.
     *
     * @param rows m rows of n values, m at least n
     * @throws io.sparqr.error.BackendUnavailableException if a device is required and there is none
     * @throws MatrixFormatException if there are no rows or columns, or all values are 0
     * @throws DimensionMismatchException if rows differ in length, or m is less than n
     * @throws io.sparqr.error.NonFiniteValueException for NaN and infinity
     */
    public DensePursuit decompose(double[][] rows) {
      int threads = Runtime.getRuntime().availableProcessors();
      double n = rows.length == 0 ? 0 : rows[0].length;
      return LocalDevice.run(
          backend,
          FEW_ITERATIONS * 4 * rows.length * n * n,
          "Robust PCA of %d x %.0f".formatted(rows.length, n),
          (provider, device) ->
              PlacedPursuit.decompose(
                  rows, options, threads, all -> provider.pursuit(device, all, threads)),
          () -> DensePursuit.decompose(rows, options, threads));
    }
  }

  private static Iterator<double[]> factors(PursuitPart part) {
    return IntStream.range(0, part.chunks())
        .boxed()
        .flatMap(c -> IntStream.range(0, part.rows(c)).mapToObj(i -> part.factorRow(c, i)))
        .iterator();
  }

  private static Iterator<SparseRow> sparse(PursuitPart part, int columns) {
    return IntStream.range(0, part.chunks())
        .boxed()
        .flatMap(
            c ->
                IntStream.range(0, part.rows(c))
                    .mapToObj(
                        i ->
                            new SparseRow(
                                part.indices(c, i), part.values(c, i), new double[0], 1, columns)))
        .iterator();
  }

  /** m. */
  public long rows() {
    return jobs.rows();
  }

  /** n. */
  public int columns() {
    return jobs.columns();
  }

  /** The rank of L. */
  public int rank() {
    return v.numCols();
  }

  /**
   * U of L = U diag(sigma) V', m x rank, orthonormal to rounding: an RDD of its rows in the
   * partitions and the order of M's rows.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public JavaRDD<double[]> u() {
    requireOpen();
    return svd.map(TallSkinnyQR.Svd::u).orElseGet(() -> parts.flatMap(RobustPca::factors));
  }

  /** Singular values of L, size rank, descending. */
  public double[] sigma() {
    return svd.map(TallSkinnyQR.Svd::sigma).orElseGet(() -> new double[0]);
  }

  /** V of L, n x rank. */
  public DenseMatrix v() {
    return v;
  }

  /**
   * L: an RDD of its rows, n values each, in the partitions and the order of M's rows.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public JavaRDD<double[]> lowRank() {
    requireOpen();
    Broadcast<PursuitStep> step = last;
    return parts.flatMap(RobustPca::factors).map(f -> step.value().lowRankRow(f));
  }

  /**
   * S: an RDD of its rows, of weight 1, without labels and with n columns, in the partitions and
   * the order of M's rows.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public JavaRDD<SparseRow> sparse() {
    requireOpen();
    int columns = jobs.columns();
    return parts.flatMap(part -> sparse(part, columns));
  }

  /** The weight of the sparse part. */
  public double lambda() {
    return pursuit.lambda();
  }

  /** All iterations. */
  public List<PursuitIteration> history() {
    return pursuit.history();
  }

  /** Whether the tolerance was reached. */
  public boolean converged() {
    return pursuit.converged();
  }

  /** What the user should know, a sentence each: that it did not converge. */
  public List<String> warnings() {
    return pursuit.warnings();
  }

  /** How far L and S are from the optimum. */
  public PursuitOptimality optimality() {
    return optimality;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the decomposition is closed");
    }
  }

  /** Releases what executors keep; RDDs of this decomposition cannot be read any more. */
  @Override
  public void close() {
    if (!closed) {
      qr.ifPresent(TallSkinnyQR::close);
      jobs.close();
    }
    closed = true;
  }
}
