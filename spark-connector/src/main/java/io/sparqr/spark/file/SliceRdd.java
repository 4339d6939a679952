/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.spark.internals.QuietRdd;
import io.sparqr.spark.model.SparseRow;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * The rows of an RDD of slices: of their own for callers, who may keep them, or reused. An RDD of
 * its own because its type tells that the rows can be had reused.
 */
public final class SliceRdd extends QuietRdd<SparseRow> implements ReusableRows {

  private static final long serialVersionUID = 1;

  private final boolean reused;

  private SliceRdd(RDD<RowSlice> slices, boolean reused) {
    super(slices, tag(SparseRow.class));
    this.reused = reused;
  }

  /** The rows of all slices, in their order. */
  public static JavaRDD<SparseRow> of(JavaRDD<RowSlice> slices) {
    return JavaRDD.fromRDD(new SliceRdd(slices.rdd(), false), tag(SparseRow.class));
  }

  @Override
  public JavaRDD<SparseRow> reused() {
    RDD<SparseRow> rows = new SliceRdd(slices(), true).setName(name());
    return JavaRDD.fromRDD(rows, tag(SparseRow.class));
  }

  @Override
  public Partition[] getPartitions() {
    return slices().partitions();
  }

  @Override
  public Iterator<SparseRow> compute(Partition split, TaskContext context) {
    return slices()
        .iterator(split, context)
        .flatMap(s -> CollectionConverters.asScala(reused ? s.reusedRows() : s.iterator()));
  }

  private RDD<RowSlice> slices() {
    return firstParent(tag(RowSlice.class));
  }

  private static <T> ClassTag<T> tag(Class<T> of) {
    return ClassTag$.MODULE$.apply(of);
  }
}
