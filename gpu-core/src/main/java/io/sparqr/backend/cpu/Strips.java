/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.threads.Crew;

/**
 * Passes over the columns of a column-major front, a strip at a time, so that each of its pages and
 * cache lines is visited once. At the top of the tree these passes would leave all threads but one
 * idle, so those over large fronts are shared. Strips are disjoint and only copy: the bits do not
 * depend on who takes which.
 */
final class Strips {

  /** Columns of a strip. */
  static final int WIDTH = 32;

  /** A copy of fewer entries, some 0.1 ms of work, is not worth waking other threads. */
  static final long SHARED_ENTRIES = 1 << 17;

  private Strips() {}

  /** Copies what lies in columns [from, to). */
  interface Copy {
    void of(int from, int to);
  }

  /**
   * Runs a copy for each strip of columns [0, columns).
   *
   * @param entries copied in all
   */
  static void run(int columns, long entries, Crew crew, Copy copy) {
    (entries < SHARED_ENTRIES ? Crew.ALONE : crew)
        .run(
            (columns + WIDTH - 1) / WIDTH,
            s -> copy.of(s * WIDTH, Math.min((s + 1) * WIDTH, columns)));
  }
}
