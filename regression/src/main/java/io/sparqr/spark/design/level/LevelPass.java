/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.internals.TableRow;
import io.sparqr.spark.internals.TableRows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * Collects the distinct levels of several factors, ascending, by one pass over the rows: each
 * partition reduces its levels to distinct ones, equal levels of different partitions meet by hash
 * in a reducer, and the driver sorts the rest. Takes about 12 bytes per level and partition in the
 * shuffle, and holds the levels once on the driver.
 */
public final class LevelPass {

  /** Maximum number of reducers; a factor's levels are spread over all of them. */
  private static final int MOST_PARTS = 64;

  /** Collects the levels of a partition into one set per factor. */
  public interface Reading extends Serializable {
    void read(int partition, Iterator<TableRow> rows, LevelSet[] into);
  }

  /**
   * The result for a factor.
   *
   * @param levels all of them; none without a partition
   * @param missing whether any row had a missing value
   */
  public record Found(@Nullable LevelChunk levels, boolean missing) {}

  private LevelPass() {}

  /**
   * Runs the pass.
   *
   * @param texts for each factor whether its levels are texts
   */
  public static List<Found> run(
      JavaSparkContext context, TableRows rows, String what, boolean[] texts, Reading reading) {
    int parts = Math.max(1, Math.min(MOST_PARTS, context.defaultParallelism()));
    return JobScope.run(
        context,
        what,
        () -> {
          JavaPairRDD<Integer, LevelChunk> chunks =
              rows.map((p, it) -> ofPartition(p, it, texts, reading, parts)).mapToPair(t -> t);
          List<Tuple2<Integer, LevelChunk>> all =
              chunks
                  .reduceByKey(LevelChunk::union, parts)
                  .map(t -> new Tuple2<>(t._1(), t._2().arrays()))
                  .collect()
                  .stream()
                  .map(t -> new Tuple2<>(t._1(), LevelChunk.of(t._2())))
                  .toList();
          return found(all, texts.length, parts);
        });
  }

  private static Iterator<Tuple2<Integer, LevelChunk>> ofPartition(
      int partition, Iterator<TableRow> rows, boolean[] texts, Reading reading, int parts) {
    var sets = new LevelSet[texts.length];
    for (int f = 0; f < sets.length; f++) {
      sets[f] = new LevelSet(texts[f]);
    }
    reading.read(partition, rows, sets);
    var all = new ArrayList<Tuple2<Integer, LevelChunk>>();
    for (int f = 0; f < sets.length; f++) {
      List<LevelChunk> chunks = sets[f].chunks(parts);
      int key = f * (parts + 1);
      for (int p = 0; p < parts; p++) {
        if (chunks.get(p).count() > 0) {
          all.add(new Tuple2<>(key + p, chunks.get(p)));
        }
      }
      if (sets[f].hasMissing()) {
        all.add(new Tuple2<>(key + parts, LevelChunk.ofKeys(new long[0])));
      }
    }
    return all.iterator();
  }

  private static List<Found> found(
      List<Tuple2<Integer, LevelChunk>> chunks, int factors, int parts) {
    var all = new ArrayList<Found>();
    for (int f = 0; f < factors; f++) {
      int key = f * (parts + 1);
      boolean missing = chunks.stream().anyMatch(c -> c._1() == key + parts);
      LevelChunk[] own =
          chunks.stream()
              .filter(c -> c._1() >= key && c._1() < key + parts)
              .map(Tuple2::_2)
              .toArray(LevelChunk[]::new);
      all.add(new Found(merged(own), missing));
    }
    return all;
  }

  /** Merged in pairs, so that each level is moved log2(parts) times. */
  private static @Nullable LevelChunk merged(LevelChunk[] chunks) {
    int n = chunks.length;
    if (n == 0) {
      return null;
    }
    LevelChunk[] left = Arrays.copyOf(chunks, n);
    while (n > 1) {
      int half = (n + 1) / 2;
      for (int k = 0; k + half < n; k++) {
        left[k] = left[k].union(left[k + half]);
      }
      n = half;
    }
    return left[0];
  }
}
