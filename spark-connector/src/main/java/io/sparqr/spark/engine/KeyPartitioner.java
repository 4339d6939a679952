/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import org.apache.spark.Partitioner;

/** The key is the partition: task id, hash range or chunk, depending on the shuffle. */
public final class KeyPartitioner extends Partitioner {

  private static final long serialVersionUID = 1;

  private final int partitions;

  /** For keys 0 .. partitions-1. */
  public KeyPartitioner(int partitions) {
    this.partitions = partitions;
  }

  @Override
  public int numPartitions() {
    return partitions;
  }

  @Override
  public int getPartition(Object key) {
    return (Integer) key;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeyPartitioner k && k.partitions == partitions;
  }

  @Override
  public int hashCode() {
    return partitions;
  }
}
