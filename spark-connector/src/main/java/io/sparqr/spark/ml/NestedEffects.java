/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.design.AbsorbedFactor;
import io.sparqr.spark.resource.JobScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Absorbed factors that are nested in clusters: each level within one cluster. Fixest's
 * small-sample correction ({@code fixef.K = "nested"}) counts one parameter for all of them
 * together, because the adjustment for the number of clusters already covers the others.
 *
 * <p>Several factors may span the same: households and communities within municipalities have the
 * rank of the households' dummies. What counts is therefore the rank of the nested factors'
 * dummies, taken together; of one factor that is its number of levels, of several it is found by
 * our own factorization of their distinct combinations. A pass over the rows, and a shuffle of each
 * level's number and cluster, once for each partition in which it occurs.
 */
final class NestedEffects {

  /** Marks a level with rows in several clusters; not the key of any cluster. */
  private static final String SEVERAL = "\u0000several";

  /** Used in place of the number of levels if one of them has rows in several clusters. */
  private static final long BROKEN = -1;

  private final List<AbsorbedFactor> factors;
  private final JavaRDD<SparseRow> rows;

  private NestedEffects(List<AbsorbedFactor> factors, JavaRDD<SparseRow> rows) {
    this.factors = factors;
    this.rows = rows;
  }

  /**
   * Parameters for the correction: the rank, less that of the nested factors together, plus one if
   * there are any.
   *
   * @param rank of the regressors and all factors together
   * @param keys for each way of clustering, aligned with the rows; a factor nested in one of them
   *     counts as nested
   */
  static long parameters(
      int rank, List<AbsorbedFactor> factors, JavaRDD<SparseRow> rows, List<JavaRDD<String>> keys) {
    var effects = new NestedEffects(factors, rows);
    long[] levels = new long[factors.size()];
    for (JavaRDD<String> way : keys) {
      long[] nested = effects.nestedLevels(way);
      Arrays.setAll(levels, f -> Math.max(levels[f], nested[f]));
    }
    var nested = new ArrayList<AbsorbedFactor>();
    long alone = 0;
    for (int f = 0; f < levels.length; f++) {
      if (levels[f] > 0) {
        nested.add(factors.get(f));
        alone = levels[f];
      }
    }
    return switch (nested.size()) {
      case 0 -> rank;
      case 1 -> rank - alone + 1;
      default -> rank - effects.rank(nested) + 1L;
    };
  }

  /**
   * For each factor the number of levels with rows; 0 if the factor is not nested in the clusters.
   */
  private long[] nestedLevels(JavaRDD<String> keys) {
    List<AbsorbedFactor> all = factors;
    JavaRDD<Tuple2<Long, String>> levels = rows.zipPartitions(keys, (r, k) -> levels(all, r, k));
    JavaPairRDD<Integer, Long> counted =
        JavaPairRDD.fromJavaRDD(levels)
            .reduceByKey(NestedEffects::merged)
            .mapToPair(
                t -> new Tuple2<>((int) (t._1() >>> 32), t._2().equals(SEVERAL) ? BROKEN : 1L))
            .reduceByKey((m, n) -> m == BROKEN || n == BROKEN ? BROKEN : m + n);
    long[] nested = new long[all.size()];
    for (Tuple2<Integer, Long> t :
        JobScope.run(
            JavaSparkContext.fromSparkContext(rows.context()),
            "absorbed effects that are nested in clusters",
            counted::collect)) {
      nested[t._1()] = t._2() == BROKEN ? 0 : t._2();
    }
    return nested;
  }

  private static String merged(String a, String b) {
    return a.equals(b) ? a : SEVERAL;
  }

  /** Factor and level of the rows of a partition, with their cluster. */
  private static Iterator<Tuple2<Long, String>> levels(
      List<AbsorbedFactor> factors, Iterator<SparseRow> rows, Iterator<String> keys) {
    Map<Long, String> clusterOf = new HashMap<>();
    while (rows.hasNext()) {
      SparseRow row = rows.next();
      String key = keys.next();
      if (row.weight() > 0) {
        for (int f = 0; f < factors.size(); f++) {
          clusterOf.merge((long) f << 32 | level(factors.get(f), row), key, NestedEffects::merged);
        }
      }
    }
    return clusterOf.entrySet().stream()
        .map(e -> new Tuple2<>(e.getKey(), e.getValue()))
        .iterator();
  }

  /** The reference level has the number after the last. */
  private static int level(AbsorbedFactor factor, SparseRow row) {
    for (int j : row.indices()) {
      if (j >= factor.first() && j < factor.first() + factor.columns()) {
        return j - factor.first();
      }
    }
    return factor.columns();
  }

  /** The rank of the dummies of some factors, one for each level. */
  private int rank(List<AbsorbedFactor> of) {
    int columns = 0;
    for (AbsorbedFactor f : of) {
      columns = Math.addExact(columns, f.columns() + 1);
    }
    int n = columns;
    JavaRDD<SparseRow> dummies = rows.mapPartitions(it -> dummies(of, it, n), true);
    try (QRFactorization f = GpuSparseQR.builder().build().factorize(dummies)) {
      return f.rank();
    }
  }

  /** The distinct combinations of levels in a partition. */
  private static Iterator<SparseRow> dummies(
      List<AbsorbedFactor> of, Iterator<SparseRow> rows, int n) {
    Set<List<Integer>> seen = new HashSet<>();
    while (rows.hasNext()) {
      SparseRow row = rows.next();
      if (row.weight() > 0) {
        var columns = new ArrayList<Integer>();
        int before = 0;
        for (AbsorbedFactor f : of) {
          columns.add(before + level(f, row));
          before += f.columns() + 1;
        }
        seen.add(columns);
      }
    }
    double[] ones = new double[of.size()];
    Arrays.fill(ones, 1);
    return seen.stream()
        .sorted(NestedEffects::compare)
        .map(c -> c.stream().mapToInt(Integer::intValue).toArray())
        .map(c -> new SparseRow(c, ones, new double[] {0}, 1, n))
        .iterator();
  }

  /** The order of the combinations, for the same bits in every run. */
  private static int compare(List<Integer> a, List<Integer> b) {
    int found = 0;
    for (int k = 0; found == 0 && k < a.size(); k++) {
      found = Integer.compare(a.get(k), b.get(k));
    }
    return found;
  }
}
