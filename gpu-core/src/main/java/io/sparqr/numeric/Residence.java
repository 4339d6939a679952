/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.Optional;

/**
 * Whether a task's R has stayed where its backend made it ({@link FactorOptions#resident}).
 *
 * @param factor the R that stayed, owned by the receiver; empty: none
 * @param reason why not; empty if it stayed or nobody asked for it
 */
public record Residence(Optional<ResidentFactor> factor, String reason) {

  /** Nobody asked for it. */
  public static final Residence NONE = new Residence(Optional.empty(), "");

  /** R has stayed. */
  public static Residence of(ResidentFactor factor) {
    return new Residence(Optional.of(factor), "");
  }

  /** R has not stayed. */
  public static Residence none(String reason) {
    return new Residence(Optional.empty(), reason);
  }

  /** Frees R, if there is any. */
  public void close() {
    factor.ifPresent(ResidentFactor::close);
  }
}
