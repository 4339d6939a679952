/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.RDDInfo;

/**
 * Where Spark keeps persisted RDDs. Spark's own list is written by a listener, behind what happens:
 * here it is read once the listener has seen all that happened before.
 */
public final class StoredRdds {

  private StoredRdds() {}

  public static List<RDDInfo> of(JavaSparkContext context) {
    try {
      context.sc().listenerBus().waitUntilEmpty();
    } catch (TimeoutException e) {
      throw new IllegalStateException(e);
    }
    return Arrays.asList(context.sc().getRDDStorageInfo());
  }

  /** The levels of factorizations that are kept. */
  static List<RDDInfo> levels(JavaSparkContext context) {
    return of(context).stream().filter(i -> i.name().startsWith("sparqr R, ")).toList();
  }
}
