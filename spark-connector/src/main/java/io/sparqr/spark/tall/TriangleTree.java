/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.spark.engine.SparkErrors;
import java.util.List;
import java.util.Optional;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import scala.Tuple2;

/** The triangles of the partitions on their way to one, in at most two stages. */
final class TriangleTree {

  /** The triangles below each node of the first stage, and below the root of the second. */
  final JavaPairRDD<Integer, Iterable<Triangle>> first;

  final Optional<JavaPairRDD<Integer, Iterable<Triangle>>> second;

  /** Nodes of the first stage. */
  final int groups;

  /** Triangles of a node. */
  final int arity;

  /**
   * Nothing is computed yet.
   *
   * @param leaves at most one of each partition, with its number
   * @param wanted arity; default: the square root of the number of partitions
   */
  TriangleTree(JavaRDD<Triangle> leaves, Optional<Integer> wanted) {
    int partitions = leaves.getNumPartitions();
    arity = wanted.orElse(Math.max(2, (int) Math.ceil(Math.sqrt(partitions))));
    groups = Math.max(1, (partitions + arity - 1) / arity);
    int width = arity;
    first =
        leaves
            .mapToPair(t -> new Tuple2<>(t.node / width, t))
            .groupByKey(new HashPartitioner(groups));
    second =
        groups == 1
            ? Optional.empty()
            : Optional.of(
                first
                    .map(g -> LocalQr.ofTriangles(g._1, g._2, false).triangle())
                    .mapToPair(t -> new Tuple2<>(0, t))
                    .groupByKey(new HashPartitioner(1)));
  }

  /**
   * R of all rows: a job.
   *
   * @throws MatrixFormatException if there are no rows
   * @throws DimensionMismatchException if there are fewer rows than columns
   */
  Triangle root() {
    JavaPairRDD<Integer, Iterable<Triangle>> last = second.orElse(first);
    List<Triangle> top =
        SparkErrors.unwrap(
            () -> last.map(g -> LocalQr.ofTriangles(g._1, g._2, false).triangle()).collect());
    if (top.isEmpty()) {
      throw new MatrixFormatException("the input has no rows", "input", -1);
    }
    Triangle root = top.get(0);
    if (root.height < root.columns) {
      throw new DimensionMismatchException(
          "%d rows, %d columns: a tall matrix has at least as many rows as columns"
              .formatted(root.rows, root.columns),
          "rows",
          root.columns,
          root.rows);
    }
    return root;
  }
}
