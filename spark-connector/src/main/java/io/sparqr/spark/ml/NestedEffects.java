/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.design.AbsorbedFactor;
import io.sparqr.spark.resource.JobScope;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Absorbed factors that are nested in clusters: each level within one cluster. Fixest's
 * small-sample correction ({@code fixef.K = "nested"}) counts only one parameter for each of them,
 * because the adjustment for the number of clusters already covers the others. A pass over the
 * rows, and a shuffle of each level's number and cluster, once for each partition in which it
 * occurs.
 */
final class NestedEffects {

  /** Marks a level with rows in several clusters; not the key of any cluster. */
  private static final String SEVERAL = "\u0000several";

  /** Used in place of the number of levels if one of them has rows in several clusters. */
  private static final long BROKEN = -1;

  private NestedEffects() {}

  /**
   * Parameters for the correction: the rank, less the number of levels with rows minus one for each
   * nested factor.
   *
   * @param keys for each way of clustering, aligned with the rows; a factor nested in one of them
   *     counts as nested
   */
  static long parameters(
      int rank, List<AbsorbedFactor> factors, JavaRDD<SparseRow> rows, List<JavaRDD<String>> keys) {
    long parameters = rank;
    var nested = new BitSet();
    for (JavaRDD<String> way : keys) {
      long[] levels = nestedLevels(factors, rows, way);
      for (int f = 0; f < levels.length; f++) {
        if (levels[f] > 0 && !nested.get(f)) {
          nested.set(f);
          parameters -= levels[f] - 1;
        }
      }
    }
    return parameters;
  }

  /**
   * For each factor the number of levels with rows; 0 if the factor is not nested in the clusters.
   */
  private static long[] nestedLevels(
      List<AbsorbedFactor> factors, JavaRDD<SparseRow> rows, JavaRDD<String> keys) {
    JavaRDD<Tuple2<Long, String>> levels =
        rows.zipPartitions(keys, (r, k) -> levels(factors, r, k));
    JavaPairRDD<Integer, Long> counted =
        JavaPairRDD.fromJavaRDD(levels)
            .reduceByKey(NestedEffects::merged)
            .mapToPair(
                t -> new Tuple2<>((int) (t._1() >>> 32), t._2().equals(SEVERAL) ? BROKEN : 1L))
            .reduceByKey((m, n) -> m == BROKEN || n == BROKEN ? BROKEN : m + n);
    long[] nested = new long[factors.size()];
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
}
