/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.inference.TwoWayRows.Roles;
import io.sparqr.spark.inference.VarianceComponents.Moments;
import io.sparqr.spark.model.InverseBlock;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Found;
import io.sparqr.spark.parts.Gathered;
import io.sparqr.spark.parts.Gathering;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.parts.ShuffledFrames;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.pattern.ColumnSums;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * Variances of worker and firm effects and their covariance, corrected for the noise of the
 * estimates: exactly, without random projections.
 *
 * <p>With Z = (A'A)^-1 and V = Z (sum s_i a_i a_i') Z the correction of a moment x'Mx is tr(M V),
 * where s_i are the errors' variances. With z = Z a_i, effects alpha, psi and b of z, x_t the other
 * columns of row t, and n_j the number of rows of firm j, tr(M V) is the sum over i of s_i times
 *
 * <pre>
 *   sum_t psi_t^2       = sum_j n_j (a_i'Z e_j)^2
 *   sum_t alpha_t psi_t = psi_i - sum_t psi_t^2 - sum_t psi_t x_t'b
 *   sum_t alpha_t^2     = alpha_i - sum_t alpha_t psi_t - sum_t alpha_t x_t'b
 *   alpha_i             = h_i - psi_i - x_i'b
 * </pre>
 *
 * divided by the sum of the weights, minus the contribution of the means. This uses A'A z = a_i,
 * whose rows for the firms state that sum_t psi_t (a_t'z) is psi_i. The columns of Z for one way
 * therefore suffice, those of the way with fewer, and of these only the values at that way and at
 * the other columns ({@link Matches}); the squares of the other way follow from the leverages. The
 * cost is the descent for the leverages, which leaves the columns of the k firms where most of them
 * meet in one front, and else two triangular solves for each of them, on the fronts of the firms
 * and above ({@link io.sparqr.spark.QRFactorization#inverseBlock}); some 20 k flops for each pair
 * of a worker and a firm of his, and 2 + 3 p solves for p other columns; beyond that it does not
 * grow with the number of workers. Takes n values per vector on the driver, as does {@link
 * Inference}.
 */
public final class LeaveOutVariance {

  /** Maximum number of columns that belong to neither way. */
  private static final int MOST_OTHERS = 64;

  /** Part of the heap that sums by column may take in this JVM, as 1 / share. */
  private static final int SHARE = 8;

  private final Inference inference;
  private final JavaSparkContext context;
  private final int n;
  private final Roles roles;
  private final int[] workers;
  private final int[] firms;

  private LeaveOutVariance(Inference inference, int[] workers, int[] firms) {
    this.inference = inference;
    this.context = JavaSparkContext.fromSparkContext(inference.rows().context());
    this.n = inference.columns();
    this.workers = workers.clone();
    this.firms = firms.clone();
    byte[] way = new byte[n];
    mark(way, workers, TwoWayRows.WORKER);
    mark(way, firms, TwoWayRows.FIRM);
    int[] place = new int[n];
    int others = 0;
    for (int j = 0; j < n; j++) {
      place[j] = way[j] == TwoWayRows.OTHER ? others++ : -1;
    }
    if (others > MOST_OTHERS) {
      throw new IllegalArgumentException(
          "%,d columns of neither workers nor firms, %d at most: partial them out first"
              .formatted(others, MOST_OTHERS));
    }
    this.roles = new Roles(way, place, others);
  }

  private static void mark(byte[] way, int[] columns, byte as) {
    if (columns.length == 0) {
      throw new IllegalArgumentException("no columns of the " + (as == 1 ? "workers" : "firms"));
    }
    for (int j : columns) {
      if (way[j] != TwoWayRows.OTHER) {
        throw new IllegalArgumentException("column " + j + " is given twice");
      }
      way[j] = as;
    }
  }

  /**
   * Variance components of a fit without a ridge, with dummies for workers and for firms and some
   * other columns.
   *
   * @param inference of the fit, with observations of a {@link LeaveOneOutSet}
   * @param workers columns of the workers' dummies, at most one of them in each row
   * @param firms columns of the firms' dummies, likewise
   * @throws IllegalArgumentException if a row has leverage 1, if a row has another form, or if
   *     there are more than 64 other columns
   */
  public static VarianceComponents of(Inference inference, int[] workers, int[] firms) {
    var made = new LeaveOutVariance(inference, workers, firms);
    try (var scope = new JobScope(made.context)) {
      return made.run(scope);
    }
  }

  private VarianceComponents run(JobScope scope) {
    boolean swap = workers.length < firms.length;
    int[] narrow = live(swap ? workers : firms);
    int[] rowsOfZ = IntStream.concat(Arrays.stream(narrow), Arrays.stream(others())).toArray();
    // first, because the leverages come from the same descent
    try (InverseBlock z = inference.factorization().inverseBlock(rowsOfZ)) {
      return run(scope, swap, narrow, z);
    }
  }

  private VarianceComponents run(JobScope scope, boolean swap, int[] narrow, InverseBlock z) {
    JavaRDD<Observations.Leverages> h = inference.leverages();
    scope.describe("variance components, sums by column");
    var sums = new double[2];
    double[] byColumn = byColumn(sums);
    double total = sums[0];
    double[] x = inference.coefficients();
    var fit =
        new TwoWayRows.Fit(
            x, mean(workers, byColumn, total, x), mean(firms, byColumn, total, x), sums[1] / total);
    scope.describe("variance components, means and other columns");
    double[] head = moments(fit, means(byColumn, total), h);
    requireLeverages(head);
    double[] effects = effects(scope, fit, swap, narrow, z, byColumn, h);
    var plugIn = new Moments(head[0] / total, head[1] / total, head[2] / total);
    double sigma = inference.sigma();
    return new VarianceComponents(
        plugIn,
        plugIn.minus(correction(head, 1, effects, swap, total), sigma * sigma),
        plugIn.minus(correction(head, 0, effects, swap, total), 1));
  }

  private void requireLeverages(double[] head) {
    if (head[3] > 0) {
      throw new IllegalArgumentException(
          "%,.0f rows have leverage 1, they cannot be left out: take the leave-one-out connected set"
              .formatted(head[3]));
    }
    int rank = inference.rank();
    if (!(Math.abs(head[4] - rank) < 1e-6 * rank)) {
      throw new IllegalArgumentException(
          "the leverages' sum is %s and not the rank, %,d: a fit with a ridge?"
              .formatted(head[4], rank));
    }
  }

  /** tr(M V) of the three moments, from the terms for the weight with this index. */
  private static Moments correction(
      double[] head, int weight, double[] effects, boolean swap, double total) {
    int at = TwoWayRows.HEAD + weight * TwoWayRows.TERMS;
    double meansWorker = head[at];
    double meansFirm = head[at + 1];
    double meansBoth = head[at + 2];
    double leverage = head[at + 3];
    double others = head[at + 4];
    double narrowOthers = head[at + (swap ? 5 : 6)];
    double wideOthers = head[at + (swap ? 6 : 5)];
    double narrow = effects[2 * weight];
    double narrowOwn = effects[2 * weight + 1];
    double cross = narrowOwn - narrow - narrowOthers;
    double wideOwn = leverage - narrowOwn - others;
    double wide = wideOwn - cross - wideOthers;
    return new Moments(
        (swap ? narrow : wide) / total - meansWorker,
        (swap ? wide : narrow) / total - meansFirm,
        cross / total - meansBoth);
  }

  private double mean(int[] columns, double[] byColumn, double total, double[] x) {
    double sum = 0;
    for (int j : columns) {
      sum += byColumn[j * (1 + roles.others())] / total * x[j];
    }
    return sum;
  }

  /** The vectors whose products with (A'A)^-1 are the input of {@link TwoWayRows#moments}. */
  private List<SparseRow> means(double[] byColumn, double total) {
    var vectors = new ArrayList<SparseRow>();
    vectors.add(vector(workers, byColumn, 0, 1 / total));
    vectors.add(vector(firms, byColumn, 0, 1 / total));
    int[] others = others();
    vectors.addAll(Batches.units(others));
    for (int[] way : List.of(workers, firms)) {
      for (int k = 0; k < others.length; k++) {
        vectors.add(vector(way, byColumn, 1 + k, 1));
      }
    }
    return vectors;
  }

  private SparseRow vector(int[] columns, double[] byColumn, int which, double factor) {
    double[] value = new double[columns.length];
    for (int i = 0; i < value.length; i++) {
      value[i] = byColumn[columns[i] * (1 + roles.others()) + which] * factor;
    }
    return new SparseRow(columns, value, 0);
  }

  /** {@link TwoWayRows#columns}; stores the two sums in the array. */
  private double[] byColumn(double[] sums) {
    int reducers = reducers();
    Observations.Fit at = inference.fit();
    Roles r = roles;
    var how =
        new Gathering<>(
            "variance components",
            "variance components, sums by column",
            TwoWayRows.Sums.class,
            ColumnSums.INSTANCE,
            new Gathering.Limits(
                Runtime.getRuntime().maxMemory() / SHARE, reducers, Long.MAX_VALUE, Long.MAX_VALUE),
            () -> {});
    Gathered<TwoWayRows.Sums, ColumnChunks> found =
        how.of(
            Parts.of(inference.rows()),
            (p, rows) -> {
              var chunks = new ColumnChunks();
              var row = new Observations(at, new Observations.Leverages(p, null), rows);
              return new Found<>(
                  new TwoWayRows.Sums(p, TwoWayRows.columns(row, r, chunks)), chunks);
            });
    double[] all = new double[Math.multiplyExact(n, 1 + roles.others())];
    ColumnChunks.merge(found.tables(), Double::sum, all, context.defaultParallelism());
    System.arraycopy(TwoWayRows.total(found.figures()), 0, sums, 0, 2);
    return all;
  }

  private double[] moments(
      TwoWayRows.Fit fit, List<SparseRow> vectors, JavaRDD<Observations.Leverages> h) {
    Observations.Fit at = inference.fit();
    Roles r = roles;
    return summed(
        inverse(vectors),
        g ->
            inference
                .rows()
                .zipPartitions(
                    h,
                    (rows, leverages) -> {
                      Observations.Leverages l = Observations.only(leverages);
                      var row = new Observations(at, l, rows);
                      return sums(l.partition(), TwoWayRows.moments(row, r, fit, g.value()));
                    }));
  }

  /**
   * For the columns of a way: sums of squares and own effects. With the estimated variances they
   * are computed batch by batch; with variances of 1 they follow from the diagonal of (A'A)^-1, as
   * the sum of n_j z_jj and the number of independent columns.
   *
   * @param swap whether the way is the workers'
   * @param live its independent columns
   * @param z (A'A)^-1 on these and then the other columns
   */
  private double[] effects(
      JobScope scope,
      TwoWayRows.Fit fit,
      boolean swap,
      int[] live,
      InverseBlock z,
      double[] byColumn,
      JavaRDD<Observations.Leverages> h) {
    int[] number = new int[n];
    Arrays.fill(number, -1);
    double[] weight = new double[live.length];
    double[] total = new double[4];
    double[] errors = inference.factorization().unscaledErrors();
    for (int k = 0; k < live.length; k++) {
      int j = live[k];
      weight[k] = byColumn[j * (1 + roles.others())];
      total[2] += weight[k] * errors[j] * errors[j];
      total[3]++;
      number[j] = k;
    }
    try (var held = new Held()) {
      scope.describe("variance components, matches of workers and firms");
      byte wide = swap ? TwoWayRows.FIRM : TwoWayRows.WORKER;
      JavaRDD<byte[]> matches =
          held.persist(matches(fit, wide, live.length, number, h), StorageLevel.MEMORY_AND_DISK());
      int batch = Batches.block(z.columns());
      for (int from = 0; from < live.length; from += batch) {
        int to = Math.min(live.length, from + batch);
        scope.describe("variance components, effects %d of %d".formatted(to, live.length));
        int first = from;
        double[] some =
            summed(
                z.strip(from, to),
                sent ->
                    matches.mapPartitionsWithIndex(
                        (p, frames) -> {
                          Matches m = ObjectCodec.decode(Observations.only(frames), Matches.class);
                          return sums(p, m.effects(sent.value(), weight, first));
                        },
                        true));
        total[0] += some[0];
        total[1] += some[1];
      }
    }
    return total;
  }

  /**
   * The independent ones of some columns, in the order of R: solves with unit vectors begin late.
   */
  private int[] live(int[] columns) {
    var order = inference.factorization().permutation();
    var dead = new BitSet();
    for (int j : inference.factorization().deadColumns()) {
      dead.set(j);
    }
    return Arrays.stream(columns)
        .filter(j -> !dead.get(j))
        .map(order::position)
        .sorted()
        .map(order::original)
        .toArray();
  }

  private int[] others() {
    return IntStream.range(0, n).filter(j -> roles.way()[j] == TwoWayRows.OTHER).toArray();
  }

  /**
   * One frame of {@link Matches} for each group of workers.
   *
   * @param wide the workers' way
   * @param firms their number
   * @param number by column: index of a firm, or -1
   */
  private JavaRDD<byte[]> matches(
      TwoWayRows.Fit fit, byte wide, int firms, int[] number, JavaRDD<Observations.Leverages> h) {
    Observations.Fit at = inference.fit();
    double mean = fit.meanLabel();
    Roles r = roles;
    var dead = new BitSet();
    for (int j : inference.factorization().deadColumns()) {
      dead.set(j);
    }
    int reducers = reducers();
    JavaRDD<Tuple2<Integer, byte[]>> routed =
        inference
            .rows()
            .zipPartitions(
                h,
                (rows, leverages) ->
                    TwoWayRows.routed(
                        new Observations(at, Observations.only(leverages), rows),
                        r,
                        wide,
                        dead,
                        mean,
                        reducers));
    int[] place = roles.place();
    int others = roles.others();
    return ShuffledFrames.of(routed, reducers)
        .values()
        .mapPartitions(
            frames -> {
              var all = new ArrayList<byte[]>();
              frames.forEachRemaining(all::add);
              Matches found =
                  Matches.of(
                      RowBatchCodec.decode(all, Matches.WIDTH),
                      firms,
                      j -> number[j],
                      j -> place[j],
                      others);
              return List.of(ObjectCodec.encode(found)).iterator();
            },
            true);
  }

  private int reducers() {
    return Math.max(1, Math.min(64, inference.rows().getNumPartitions()));
  }

  private static Iterator<byte[]> sums(int partition, double[] values) {
    return List.of(ObjectCodec.encode(new TwoWayRows.Sums(partition, values))).iterator();
  }

  /** Sums over all partitions, with some columns of (A'A)^-1. */
  private <T> double[] summed(T z, Function<Broadcast<T>, JavaRDD<byte[]>> parts) {
    Broadcast<T> sent = context.broadcast(z);
    try {
      JavaRDD<byte[]> sums = parts.apply(sent);
      return TwoWayRows.total(
          JobScope.run(context, "variance components", sums::collect).stream()
              .map(f -> ObjectCodec.decode(f, TwoWayRows.Sums.class))
              .toList());
    } finally {
      sent.destroy();
    }
  }

  /** (A'A)^-1 times vectors, n x k, row-major. */
  private double[] inverse(List<SparseRow> vectors) {
    int k = vectors.size();
    double[] all = new double[Math.multiplyExact(n, k)];
    int batch = Batches.width(n);
    for (int from = 0; from < k; from += batch) {
      double[][] z =
          inference.factorization().inverseTimes(vectors.subList(from, Math.min(k, from + batch)));
      for (int c = 0; c < z.length; c++) {
        for (int j = 0; j < n; j++) {
          all[j * k + from + c] = z[c][j];
        }
      }
    }
    return all;
  }
}
