/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend;

/** Which backend a caller asks for. */
public enum BackendChoice {
  /**
   * A device where there is one and the problem is worth it; the report says what was chosen and
   * why.
   */
  AUTO,
  /** The CPU. */
  CPU,
  /** A CUDA device, or an error: never a fallback. */
  REQUIRE_CUDA
}
