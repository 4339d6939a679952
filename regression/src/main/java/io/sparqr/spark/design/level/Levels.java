/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import io.sparqr.error.IndexOverflowException;
import java.io.Serializable;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The levels of a factor in ascending order, and their codes [0, count). A value that is not a
 * level has the code -1. Immutable; the lookup table is built in each JVM at its first use.
 */
public abstract class Levels implements Serializable {

  private static final long serialVersionUID = 1;

  /** The code of a value that is not a level. */
  public static final int NONE = -1;

  private final LevelKind kind;

  Levels(LevelKind kind) {
    this.kind = kind;
  }

  final LevelKind kind() {
    return kind;
  }

  /** Number of levels. */
  public abstract int count();

  /** The code of a number; not for texts. */
  public abstract int code(long key);

  /** The code of a text; not for numbers. */
  public abstract int code(UTF8String text);

  /** A level as R prints it. */
  public abstract String name(int code);

  /** The code of the level with this name, as given by {@link #name} or written in the column. */
  public abstract int named(String name);

  /** Spreads a hash over the bits of a table's size, a power of two. */
  static int spread(long hash, int mask) {
    long h = hash * 0x9E3779B97F4A7C15L;
    return (int) (h ^ h >>> 32) & mask;
  }

  /** The size of a lookup table for this number of levels, at most half full. */
  static int tableSize(int count) {
    if (count > 1 << 29) {
      throw new IndexOverflowException(
          count + " levels of a factor, at most 2^29", "levels", count);
    }
    return Integer.highestOneBit(Math.max(8, count) * 2 - 1) * 2;
  }
}
