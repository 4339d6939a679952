/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.configuration.Keys;

/**
 * Settings of an executor for tests: the only place where this package knows of tests.
 *
 * @param poisoned every buffer of a stage is filled with NaN before its use
 * @param reflectorsOnly every column by a reflector, never by Cholesky QR
 * @param pieceBytes bytes of a piece of a task list, about
 */
public record TestModes(boolean poisoned, boolean reflectorsOnly, int pieceBytes) {

  /**
   * The settings in production; {@link Keys#REFLECTORS} allows a comparison of both methods at full
   * size.
   */
  public static TestModes none() {
    return new TestModes(false, Keys.REFLECTORS.ofJvm(), Transfers.PIECE_BYTES);
  }
}
