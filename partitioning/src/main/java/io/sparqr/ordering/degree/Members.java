/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import java.util.Arrays;

/** The variables that each supervariable of a {@link QuotientGraph} has absorbed, as chains. */
final class Members {

  private static final int NONE = -1;

  private final int[] next;
  private final int[] last;

  /** Groups of one variable each. */
  Members(int variables) {
    next = new int[variables];
    last = new int[variables];
    Arrays.fill(next, NONE);
    Arrays.setAll(last, i -> i);
  }

  /** Appends the chain of i to that of another variable. */
  void append(int to, int i) {
    next[last[to]] = i;
    last[to] = last[i];
  }

  /** Writes a variable's chain from {@code order[count]} on; returns the end. */
  int write(int variable, int[] order, int count) {
    int end = count;
    for (int i = variable; i != NONE; i = next[i]) {
      order[end++] = i;
    }
    return end;
  }
}
