/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/** What the parts of the contract know of the backend. */
interface BackendUnderTest {

  /** The factorizer of the current test. */
  SubtreeFactorizer backend();

  /** Whether the backend solves where R is, if only x is wanted. */
  boolean solvesInPlace();
}
