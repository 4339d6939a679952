/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.concurrent.CancellationException;

/** A request to end work whose result is no longer wanted. Thread-safe. */
public final class StopRequest {
  private volatile boolean requested;

  /** Asks the work to stop where it next can. */
  public void request() {
    requested = true;
  }

  /**
   * To be called by the work where it can end.
   *
   * @throws CancellationException if it has been requested
   */
  public void check() {
    if (requested) {
      throw new CancellationException("the order is no longer wanted");
    }
  }
}
