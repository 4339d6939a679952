/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.configuration.Keys;

/**
 * What tests ask of an executor besides what a task asks: the one place where this package knows of
 * tests.
 *
 * @param poisoned every buffer of a stage is filled with NaN before anything is put into it
 * @param reflectorsOnly every column by a reflector, never by Cholesky QR
 */
record TestModes(boolean poisoned, boolean reflectorsOnly) {

  /** As users run it; {@link Keys#REFLECTORS} compares the two ways at size. */
  static TestModes none() {
    return new TestModes(false, Keys.REFLECTORS.ofJvm());
  }
}
