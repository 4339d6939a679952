/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.design.level.AbsorbedFactor;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

  /** Between levels, which are numbers. */
  private static final String SEPARATOR = ",";

  /** Used in place of the number of levels if one of them has rows in several clusters. */
  private static final long BROKEN = -1;

  private final List<AbsorbedFactor> factors;

  /** By row the level of each factor, for rows of positive weight; an empty array for others. */
  private final JavaRDD<String[]> levels;

  private NestedEffects(List<AbsorbedFactor> factors, JavaRDD<String[]> levels) {
    this.factors = factors;
    this.levels = levels;
  }

  /**
   * Parameters for the correction: the rank, less that of the nested factors together, plus one if
   * there are any.
   *
   * @param rank of the regressors and all factors together
   * @param clusters number of ways of clustering, whose keys are the first of the rows; a factor
   *     nested in one of them counts as nested
   */
  static long parameters(int rank, List<AbsorbedFactor> factors, TrainingRows rows, int clusters) {
    var effects = new NestedEffects(factors, levels(factors, rows));
    long[] levels = new long[factors.size()];
    for (int way = 0; way < clusters; way++) {
      long[] nested = effects.nestedLevels(rows.keys(way));
      Arrays.setAll(levels, f -> Math.max(levels[f], nested[f]));
    }
    int[] nested = IntStream.range(0, levels.length).filter(f -> levels[f] > 0).toArray();
    return switch (nested.length) {
      case 0 -> rank;
      case 1 -> rank - levels[nested[0]] + 1;
      default -> rank - effects.rank(nested) + 1L;
    };
  }

  /** The levels as texts: the row's column, or its key where several levels have no column. */
  private static JavaRDD<String[]> levels(List<AbsorbedFactor> factors, TrainingRows rows) {
    JavaRDD<String[]> all = rows.rdd().map(row -> byColumns(factors, row));
    for (int f = 0; f < factors.size(); f++) {
      int own = f;
      if (factors.get(f).key() >= 0) {
        all =
            all.zipPartitions(
                rows.keys(factors.get(f).key()), (row, key) -> withKeys(row, key, own));
      }
    }
    return all;
  }

  private static String[] byColumns(List<AbsorbedFactor> factors, SparseRow row) {
    if (!(row.weight() > 0)) {
      return new String[0];
    }
    String[] level = new String[factors.size()];
    Arrays.fill(level, "");
    for (int j : row.indices()) {
      for (int f = 0; f < level.length; f++) {
        int first = factors.get(f).first();
        if (j >= first && j < first + factors.get(f).columns()) {
          level[f] = Integer.toString(j);
        }
      }
    }
    return level;
  }

  private static Iterator<String[]> withKeys(
      Iterator<String[]> rows, Iterator<String> keys, int factor) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public String[] next() {
        String[] level = rows.next();
        String key = keys.next();
        if (level.length > 0) {
          level[factor] = key;
        }
        return level;
      }
    };
  }

  /**
   * For each factor the number of levels with rows; 0 if the factor is not nested in the clusters.
   */
  private long[] nestedLevels(JavaRDD<String> keys) {
    JavaRDD<Tuple2<String, String>> found = levels.zipPartitions(keys, NestedEffects::clusters);
    JavaPairRDD<Integer, Long> counted =
        JavaPairRDD.fromJavaRDD(found)
            .reduceByKey(NestedEffects::merged)
            .mapToPair(
                t -> {
                  int factor = Integer.parseInt(t._1().substring(0, t._1().indexOf(':')));
                  return new Tuple2<>(factor, t._2().equals(SEVERAL) ? BROKEN : 1L);
                })
            .reduceByKey((m, n) -> m == BROKEN || n == BROKEN ? BROKEN : m + n);
    long[] nested = new long[factors.size()];
    for (Tuple2<Integer, Long> t :
        JobScope.run(
            JavaSparkContext.fromSparkContext(levels.context()),
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
  private static Iterator<Tuple2<String, String>> clusters(
      Iterator<String[]> levels, Iterator<String> keys) {
    Map<String, String> clusterOf = new HashMap<>();
    while (levels.hasNext()) {
      String[] level = levels.next();
      String key = keys.next();
      for (int f = 0; f < level.length; f++) {
        clusterOf.merge(f + ":" + level[f], key, NestedEffects::merged);
      }
    }
    return clusterOf.entrySet().stream()
        .map(e -> new Tuple2<>(e.getKey(), e.getValue()))
        .iterator();
  }

  /** The rank of the dummies of some factors, one for each level. */
  private int rank(int[] of) {
    var context = JavaSparkContext.fromSparkContext(levels.context());
    JavaRDD<String> separated = levels.mapPartitions(it -> distinct(it, of)).distinct();
    List<String> rows = JobScope.run(context, "combinations of nested effects", separated::collect);
    List<Map<String, Integer>> columns = new ArrayList<>();
    int n = 0;
    var dummies = new ArrayList<SparseRow>();
    List<String[]> combinations = rows.stream().sorted().map(r -> r.split(SEPARATOR, -1)).toList();
    for (int k = 0; k < of.length; k++) {
      Map<String, Integer> own = new HashMap<>();
      for (String[] level : combinations) {
        if (own.putIfAbsent(level[k], n) == null) {
          n++;
        }
      }
      columns.add(own);
    }
    double[] ones = new double[of.length];
    Arrays.fill(ones, 1);
    for (String[] level : combinations) {
      int[] at = new int[of.length];
      Arrays.setAll(at, k -> columns.get(k).get(level[k]));
      dummies.add(new SparseRow(at, ones, new double[] {0}, 1, n));
    }
    try (QRFactorization f =
        GpuSparseQR.builder().build().factorize(context.parallelize(dummies))) {
      return f.rank();
    }
  }

  /** The distinct combinations of levels in a partition. */
  private static Iterator<String> distinct(Iterator<String[]> levels, int[] of) {
    Set<String> seen = new HashSet<>();
    while (levels.hasNext()) {
      String[] level = levels.next();
      if (level.length > 0) {
        seen.add(Arrays.stream(of).mapToObj(f -> level[f]).collect(Collectors.joining(SEPARATOR)));
      }
    }
    return seen.iterator();
  }
}
