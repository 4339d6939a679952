/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.symbolic.Tuning;

/**
 * The tuning of a plan's tasks on devices, decided on the driver: no task looks for one, so that
 * all of them, and those that are repeated elsewhere, give the same bits.
 *
 * @param tuning how devices cut their work
 * @param origin where it is from and why, in one line; empty if no task runs on a device
 */
public record PlannedTuning(Tuning tuning, String origin) {

  /** Of a plan whose tasks run on CPUs. */
  public static final PlannedTuning NONE = new PlannedTuning(Tuning.constants(), "");

  /** The constants, and why. */
  public static PlannedTuning constants(String reason) {
    return new PlannedTuning(Tuning.constants(), "constants: " + reason);
  }
}
