/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * The contract of every backend, by subject. A backend's test extends this class and supplies its
 * factorizer.
 */
public abstract class SubtreeFactorizerContract
    implements FactorContract, SolveContract, DeadColumnContract, RoundingContract, KeptQContract {

  private SubtreeFactorizer backend;

  /** A fresh factorizer; the contract closes it. */
  protected abstract SubtreeFactorizer create();

  /** Whether the backend solves where R is, if only x is wanted. */
  protected boolean solves() {
    return false;
  }

  @BeforeEach
  final void open() {
    backend = create();
  }

  @AfterEach
  final void close() {
    backend.close();
  }

  @Override
  public final SubtreeFactorizer backend() {
    return backend;
  }

  @Override
  public final boolean solvesInPlace() {
    return solves();
  }
}
