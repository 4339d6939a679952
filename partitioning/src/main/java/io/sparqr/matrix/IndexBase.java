/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import org.jspecify.annotations.Nullable;

/** The number that the indices of a libsvm file count from. */
public enum IndexBase {
  /** 0 if a 0 occurs in the file, else 1, which the format says. */
  INFERRED,
  /** 0. */
  ZERO,
  /** 1. */
  ONE;

  /** The base given by an option, if it is. */
  public static IndexBase of(@Nullable Integer given) {
    return given == null ? INFERRED : given == 0 ? ZERO : ONE;
  }

  /** The base of a file, by its least index. */
  public int of(int leastOfFile) {
    if (this == INFERRED) {
      return leastOfFile == 0 ? 0 : 1;
    }
    return this == ZERO ? 0 : 1;
  }

  /**
   * A note for the user if the base is an assumption: a file that counts from 0 and never uses the
   * index 0 looks the same as one that counts from 1. Otherwise empty.
   *
   * @param leastOfFile the greatest int if there are no indices
   */
  public String note(int leastOfFile) {
    return this == INFERRED && leastOfFile > 0 && leastOfFile < Integer.MAX_VALUE
        ? "no index is 0, so they are taken to count from 1: if they count from 0, --index-base 0"
        : "";
  }
}
