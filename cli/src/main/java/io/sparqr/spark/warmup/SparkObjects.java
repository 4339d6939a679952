/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import io.sparqr.spark.internals.SparkProcess;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.rows.RowSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;

/**
 * What a first job takes before it runs: RDDs as those of a solve are made, sent and received,
 * which loads some 800 classes (Spark's check of closures, JSON for its scopes, serialization). No
 * job is run, so that nothing is seen of it on Spark's pages, and nothing is kept.
 */
final class SparkObjects {

  private static final int PARTITIONS = 2;

  private SparkObjects() {}

  /** Makes them, and serializes them there and back. */
  static void make(JavaSparkContext context) {
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      rows.add(new SparseRow(new int[] {i}, new double[] {1}, 1.0));
    }
    Parts<byte[]> parts =
        RowSource.of(context.parallelize(rows, PARTITIONS))
            .parts()
            .shuffle(PARTITIONS, SparkObjects::keyed)
            .map((p, it) -> frames(it));
    RDD<byte[]> made = parts.rdd().rdd();
    made.dependencies();
    SparkProcess.sentAndReceived(made);
  }

  private static Iterator<Tuple2<Integer, byte[]>> keyed(int part, Iterator<SparseRow> rows) {
    List<Tuple2<Integer, byte[]>> sent = new ArrayList<>();
    rows.forEachRemaining(r -> sent.add(new Tuple2<>(part, new byte[0])));
    return sent.iterator();
  }

  private static Iterator<byte[]> frames(Iterator<Tuple2<Integer, byte[]>> pairs) {
    List<byte[]> all = new ArrayList<>();
    pairs.forEachRemaining(t -> all.add(t._2()));
    return all.iterator();
  }
}
