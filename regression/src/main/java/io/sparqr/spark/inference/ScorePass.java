/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.ShuffledFrames;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * One pass over the rows that sums the squares of their scores, or of their clusters' scores. The
 * sums are taken in the order of partitions and rows, independent of the order of arrival from
 * shuffles, so that the bits are the same on every run. The driver receives at most {@value
 * #REDUCERS} sums per way.
 */
final class ScorePass {

  /** Maximum number of summing tasks; their number depends only on the rows' partitions. */
  private static final int REDUCERS = 64;

  private final JavaSparkContext context;
  private final JavaRDD<SparseRow> rows;
  private final Observations.Fit fit;

  /** A partition's rows, not yet read. */
  record Unread(Observations.Leverages leverages, Iterator<SparseRow> rows) {}

  /**
   * Sums of squares.
   *
   * @param order number of the partition or reducer
   * @param sums one per way; upper triangles by rows, or diagonals
   * @param clusters number of clusters for each way
   * @param ones number of rows of leverage 1
   * @param moved by column the most that one of those rows moves it: the largest |a'(A'A)^-1 e_c|
   */
  record Sums(int order, double[][] sums, long[] clusters, long ones, double[] moved)
      implements Serializable {

    Sums plus(Sums other) {
      for (int way = 0; way < sums.length; way++) {
        clusters[way] += other.clusters[way];
        for (int i = 0; i < sums[way].length; i++) {
          sums[way][i] += other.sums[way][i];
        }
      }
      for (int c = 0; c < moved.length; c++) {
        moved[c] = Math.max(moved[c], other.moved[c]);
      }
      return new Sums(order, sums, clusters, ones + other.ones, moved);
    }
  }

  /**
   * The columns for the scores.
   *
   * @param z n x k, row-major
   * @param full whether covariances are computed, rather than variances only
   */
  record Columns(Broadcast<double[]> z, int k, boolean full, HcType type) implements Serializable {

    Scores scores() {
      return new Scores(z.value(), k, type);
    }

    SymmetricSum sum() {
      return new SymmetricSum(k, full);
    }
  }

  ScorePass(JavaRDD<SparseRow> rows, Observations.Fit fit) {
    this.context = JavaSparkContext.fromSparkContext(rows.context());
    this.rows = rows;
    this.fit = fit;
  }

  /**
   * Sum over the rows.
   *
   * @param leverages of the rows, if the type needs them
   */
  Sums ofRows(Columns columns, @Nullable JavaRDD<Observations.Leverages> leverages) {
    Observations.Fit at = fit;
    int partitions = rows.getNumPartitions();
    int reducers = Math.max(1, Math.min(REDUCERS, partitions));
    JavaRDD<Tuple2<Integer, byte[]>> parts =
        JobScope.named(
            context,
            "robust errors, squares of the rows' scores",
            () ->
                unread(leverages)
                    .map(u -> ofRows(at, columns, u))
                    .map(
                        s ->
                            new Tuple2<>(
                                (int) ((long) s.order * reducers / partitions),
                                ObjectCodec.encode(s))));
    JavaRDD<byte[]> merged =
        ShuffledFrames.of(parts, reducers).values().mapPartitions(ScorePass::merge);
    return total(JobScope.run(context, "robust errors, summed up", merged::collect));
  }

  private JavaRDD<Unread> unread(@Nullable JavaRDD<Observations.Leverages> leverages) {
    return leverages == null
        ? rows.mapPartitionsWithIndex(
            (p, r) -> List.of(new Unread(new Observations.Leverages(p, null), r)).iterator(), true)
        : rows.zipPartitions(
            leverages, (r, h) -> List.of(new Unread(Observations.only(h), r)).iterator());
  }

  private static Sums ofRows(Observations.Fit fit, Columns columns, Unread unread) {
    var row = new Observations(fit, unread.leverages, unread.rows);
    Scores scores = columns.scores();
    SymmetricSum sum = columns.sum();
    double[] u = new double[columns.k];
    while (row.nextThatCounts()) {
      java.util.Arrays.fill(u, 0);
      scores.add(row, u, 0);
      sum.add(u, 0);
    }
    double[][] sums = {sum.take()};
    return new Sums(unread.leverages.partition(), sums, new long[1], scores.ones(), scores.moved());
  }

  private static Iterator<byte[]> merge(Iterator<byte[]> frames) {
    var list = new ArrayList<byte[]>();
    frames.forEachRemaining(list::add);
    return list.isEmpty() ? list.iterator() : List.of(ObjectCodec.encode(total(list))).iterator();
  }

  private static Sums total(List<byte[]> frames) {
    var parts = new ArrayList<Sums>();
    for (byte[] frame : frames) {
      parts.add(ObjectCodec.decode(frame, Sums.class));
    }
    parts.sort(Comparator.comparingInt(Sums::order));
    return parts.stream().reduce(Sums::plus).orElseThrow();
  }

  /**
   * Sum over clusters.
   *
   * @param keys for each row its clusters, one per way, as {@link ClusterKeys#text}
   * @param ways number of keys per row
   */
  Sums ofClusters(Columns columns, JavaRDD<String[]> keys, int ways) {
    Observations.Fit at = fit;
    int reducers = Math.max(1, Math.min(REDUCERS, rows.getNumPartitions()));
    JavaRDD<Tuple2<Integer, byte[]>> parts =
        JobScope.named(
            context,
            "robust errors, scores of clusters",
            () ->
                unread(null)
                    .zipPartitions(
                        keys,
                        (u, k) -> {
                          Unread rows = Observations.only(u);
                          var row = new Observations(at, rows.leverages, rows.rows);
                          return new ClusterScores(row, columns, k, reducers);
                        }));
    JavaRDD<byte[]> merged =
        ShuffledFrames.of(parts, reducers)
            .values()
            .mapPartitionsWithIndex(
                (p, in) ->
                    List.of(ObjectCodec.encode(ClusterScores.squares(p, in, columns, ways)))
                        .iterator(),
                false);
    return total(JobScope.run(context, "robust errors, summed up", merged::collect));
  }
}
