/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.executor.RoundExecutor;
import java.util.Random;

/**
 * An executor with at most one fault at a time. It counts the moments at which a fault can be put
 * in. The fault comes at a given moment, or at the next one with something to spoil.
 */
public interface FaultTarget extends RoundExecutor {

  /** Sets the fault to put in from now on; null: none. */
  void arm(Fault fault, int moment, Random random);

  /** Moments since {@link #arm}. */
  int moments();

  /** The place of the fault; null: it was not put in. */
  String label();

  /** The bit that was flipped; -1: none. */
  int bit();

  /** Where exactly and when, for the message about a fault that was missed. */
  default String detail() {
    return "";
  }

  /** Repairs everything that outlives the task: its rows, its plan, data on a device. */
  void restore();
}
