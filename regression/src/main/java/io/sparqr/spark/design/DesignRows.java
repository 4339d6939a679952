/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.RowSource;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * The rows of a design as an RDD, in encoded form if they are kept: encoding takes longer than
 * reading the encoded rows again, whether or not the Dataset is cached.
 */
public final class DesignRows implements AutoCloseable {

  private final JavaRDD<RowBatch> batches;
  private final JavaRDD<SparseRow> rows;
  private final SharedCoding shared;
  private boolean kept;

  DesignRows(JavaRDD<RowBatch> batches, SharedCoding shared) {
    this.batches = batches;
    this.shared = shared;
    this.rows = RowSource.of(batches.mapPartitions(it -> new BatchedRows(it), true)).rows();
  }

  /** The rows, with label less offset and with weight. */
  public JavaRDD<SparseRow> rows() {
    return rows;
  }

  /** Key k of each row, aligned with {@link #rows()}. */
  public JavaRDD<String> keys(int k) {
    return batches.flatMap(batch -> batch.keys(k).iterator());
  }

  /** What was left out; a pass over the encoded rows. */
  public LeftOut leftOut() {
    if (shared.coding().options().handleInvalid() != HandleInvalid.SKIP) {
      return LeftOut.NONE;
    }
    String[] names = shared.coding().fieldNames();
    long[] counts = new long[1 + names.length];
    JavaRDD<long[]> parts = batches.filter(b -> b.leftOut() != null).map(RowBatch::leftOut);
    for (long[] part :
        JobScope.run(
            JavaSparkContext.fromSparkContext(rows.context()),
            "rows that are left out",
            parts::collect)) {
      for (int f = 0; f < part.length; f++) {
        counts[f] += part[f];
      }
    }
    return LeftOut.of(counts, names);
  }

  /** Persists the encoded rows in memory or on disk until this is closed. */
  public DesignRows keep() {
    batches.persist(StorageLevel.MEMORY_AND_DISK());
    kept = true;
    return this;
  }

  /** Releases the encoded rows and the levels on the executors. */
  @Override
  public void close() {
    if (kept) {
      batches.unpersist(false);
    }
    shared.destroy();
  }
}
