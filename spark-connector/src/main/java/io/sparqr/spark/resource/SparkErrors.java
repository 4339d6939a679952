/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.error.SparseQrException;
import java.util.function.Supplier;

/** Finds our own error in what Spark wraps around it. */
public final class SparkErrors {

  private SparkErrors() {}

  /** Runs an action; a failed job whose cause is one of ours fails with that cause. */
  public static <T> T unwrap(Supplier<T> action) {
    try {
      return action.get();
    } catch (RuntimeException e) {
      throw ours(e);
    }
  }

  /** Our own error among the causes, or the error itself. */
  public static RuntimeException ours(RuntimeException e) {
    int depth = 0;
    for (Throwable t = e; t != null && depth < 32; t = t.getCause(), depth++) {
      if (t instanceof SparseQrException s) {
        return s;
      }
    }
    return e;
  }
}
