/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend;

/** The backend requested by a caller. */
public enum BackendChoice {
  /**
   * A device if there is one and the problem is worth it; the report names the choice and the
   * reason.
   */
  AUTO,
  /** The CPU, even where there is a device. */
  CPU,
  /** A CUDA device, or an error: never a fallback. */
  REQUIRE_CUDA
}
