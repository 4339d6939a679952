/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.nio.DoubleBuffer;

/**
 * Gives out the memory for the rows of R of a task. The provider decides where R lives, how long,
 * and what frees it. Thread-safe.
 */
public interface RowMemory {

  /** Arrays of the heap, freed by the collector. */
  RowMemory HEAP = DoubleBuffer::allocate;

  /**
   * Memory for a front's rows, in native byte order; what it contains is undefined.
   *
   * @param doubles values, at least 0
   */
  DoubleBuffer allocate(int doubles);
}
