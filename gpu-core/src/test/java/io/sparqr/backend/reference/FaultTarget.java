/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.RoundExecutor;
import java.util.Random;

/**
 * An executor with at most one fault at a time. Moments at which one can be put in are counted; it
 * comes at a given moment, or at the next one at which there is something to spoil.
 */
public interface FaultTarget extends RoundExecutor {

  /** Puts a fault in from now on; null: none. */
  void arm(Fault fault, int moment, Random random);

  /** Moments since {@link #arm}. */
  int moments();

  /** Where the fault is; null: it was not put in. */
  String label();

  /** The bit that was flipped; -1: none. */
  int bit();

  /** Mends what outlives the task: its rows, its plan, what stays on a device. */
  void restore();
}
