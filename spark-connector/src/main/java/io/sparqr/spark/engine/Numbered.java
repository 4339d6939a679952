/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import org.apache.spark.Partition;

/** A partition of an RDD that needs to know no more than its number. */
public record Numbered(int index) implements Partition {

  private static final long serialVersionUID = 1;

  /** Partitions numbered from 0. */
  public static Partition[] all(int count) {
    var all = new Partition[count];
    for (int p = 0; p < count; p++) {
      all[p] = new Numbered(p);
    }
    return all;
  }

  @Override
  public int hashCode() {
    return index;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Numbered n && n.index == index;
  }
}
