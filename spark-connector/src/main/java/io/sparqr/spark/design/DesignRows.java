/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.rows.RowSource;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;

/**
 * The rows of a design as an RDD, and as what is kept of them: encoding costs more than reading
 * again what was encoded, whether the Dataset is cached or not.
 */
public final class DesignRows implements AutoCloseable {

  private final JavaRDD<RowBatch> batches;
  private final JavaRDD<SparseRow> rows;
  private final SharedDesign shared;
  private boolean kept;

  DesignRows(JavaRDD<RowBatch> batches, SharedDesign shared) {
    this.batches = batches;
    this.shared = shared;
    this.rows = RowSource.of(batches.mapPartitions(it -> new BatchedRows(it), true)).rows();
  }

  /** The rows: label less offset, weight. */
  public JavaRDD<SparseRow> rows() {
    return rows;
  }

  /** Key k of each row, aligned with {@link #rows()}. */
  public JavaRDD<String> keys(int k) {
    return batches.flatMap(batch -> batch.keys(k).iterator());
  }

  /** Keeps what is encoded until this is closed, in memory or on disk. */
  public DesignRows keep() {
    batches.persist(StorageLevel.MEMORY_AND_DISK());
    kept = true;
    return this;
  }

  /** Lets go of what was kept and of the levels on the executors. */
  @Override
  public void close() {
    if (kept) {
      batches.unpersist(false);
    }
    shared.destroy();
  }
}
