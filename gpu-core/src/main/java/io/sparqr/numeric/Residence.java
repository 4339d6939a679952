/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.Optional;

/**
 * Whether a task's R has stayed where its backend made it ({@link FactorOptions#resident}).
 *
 * @param factor the R that stayed, owned by the receiver; empty: none
 * @param alone whether it is nowhere else ({@link FactorOptions#alone}): then the result has no
 *     rows, every pivot is live, and the receiver fetches them if it needs them
 * @param reason why not; empty if it stayed or was not asked for
 */
public record Residence(Optional<ResidentFactor> factor, boolean alone, String reason) {

  /** R was not asked to stay on the device. */
  public static final Residence NONE = none("");

  /** R has stayed, beside the rows returned. */
  public static Residence of(ResidentFactor factor) {
    return new Residence(Optional.of(factor), false, "");
  }

  /** R has stayed, and is nowhere else. */
  public static Residence alone(ResidentFactor factor) {
    return new Residence(Optional.of(factor), true, "");
  }

  /** R could not stay on the device, for this reason. */
  public static Residence none(String reason) {
    return new Residence(Optional.empty(), false, reason);
  }

  /** Frees R, if there is any. */
  public void close() {
    factor.ifPresent(ResidentFactor::close);
  }
}
