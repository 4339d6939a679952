/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.error.SparseQrException;
import java.util.function.Supplier;

/** Finds our own error in what Spark wraps around it. */
public final class SparkErrors {

  private SparkErrors() {}

  /**
   * Runs an action; a failed job whose cause is one of ours fails with that cause. (Spark's own
   * exception is a checked one that no Java signature announces.)
   */
  public static <T> T unwrap(Supplier<T> action) {
    try {
      return action.get();
    } catch (Exception e) {
      throw SparkErrors.<RuntimeException>as(ours(e));
    }
  }

  /** Our own error among the causes, or the error itself. */
  public static Exception ours(Exception e) {
    int depth = 0;
    for (Throwable t = e; t != null && depth < 32; t = t.getCause(), depth++) {
      if (t instanceof SparseQrException s) {
        return s;
      }
    }
    return e;
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> E as(Exception e) throws E {
    throw (E) e;
  }
}
