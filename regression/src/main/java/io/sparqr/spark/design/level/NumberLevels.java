/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/**
 * Levels that are longs. Codes are found in a plain array if the levels lie close together,
 * otherwise by open addressing.
 */
public final class NumberLevels extends Levels {

  private static final long serialVersionUID = 1;

  /** Maximum size of the plain array as a multiple of the number of levels. */
  private static final int SPARSEST = 4;

  private final long[] keys;
  private transient volatile int @Nullable [] table;

  /**
   * @param keys ascending, without duplicates
   */
  public NumberLevels(LevelKind kind, long[] keys) {
    super(kind);
    this.keys = keys;
  }

  @Override
  public int count() {
    return keys.length;
  }

  public long[] keys() {
    return keys;
  }

  private boolean plain() {
    int n = keys.length;
    long range = n == 0 ? -1 : keys[n - 1] - keys[0];
    return range >= 0 && range < (long) SPARSEST * n + 64;
  }

  @Override
  public int code(long key) {
    if (keys.length == 0 || key < keys[0] || key > keys[keys.length - 1]) {
      return NONE;
    }
    int[] codes = table();
    if (plain()) {
      return codes[(int) (key - keys[0])] - 1;
    }
    int mask = codes.length - 1;
    for (int slot = spread(key, mask); ; slot = (slot + 1) & mask) {
      int code = codes[slot] - 1;
      if (code < 0 || keys[code] == key) {
        return code;
      }
    }
  }

  /** Codes + 1; 0: none. */
  private int[] table() {
    int[] codes = table;
    if (codes == null) {
      codes = plain() ? plainTable() : hashed();
      table = codes;
    }
    return codes;
  }

  private int[] plainTable() {
    var codes = new int[(int) (keys[keys.length - 1] - keys[0]) + 1];
    for (int k = 0; k < keys.length; k++) {
      codes[(int) (keys[k] - keys[0])] = k + 1;
    }
    return codes;
  }

  private int[] hashed() {
    var codes = new int[tableSize(keys.length)];
    int mask = codes.length - 1;
    for (int k = 0; k < keys.length; k++) {
      int slot = spread(keys[k], mask);
      while (codes[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      codes[slot] = k + 1;
    }
    return codes;
  }

  @Override
  public int code(UTF8String text) {
    throw new IllegalStateException("these levels are not texts");
  }

  @Override
  public String name(int code) {
    return kind().text(keys[code]);
  }

  @Override
  public int named(String name) {
    int at = Arrays.binarySearch(keys, kind().key(name));
    return at < 0 ? NONE : at;
  }
}
