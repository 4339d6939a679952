/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/** Levels that are texts: their bytes in one array, ascending; codes by open addressing. */
final class TextLevels extends Levels {

  private static final long serialVersionUID = 1;

  private final byte[] bytes;
  private final int[] end;
  private transient volatile int @Nullable [] table;

  /**
   * @param bytes of all levels, one after the other in ascending order
   * @param end size count; level k has bytes [end[k-1], end[k])
   */
  TextLevels(byte[] bytes, int[] end) {
    super(LevelKind.TEXT);
    this.bytes = bytes;
    this.end = end;
  }

  @Override
  public int count() {
    return end.length;
  }

  private int begin(int code) {
    return code == 0 ? 0 : end[code - 1];
  }

  UTF8String text(int code) {
    return UTF8String.fromBytes(bytes, begin(code), end[code] - begin(code));
  }

  @Override
  public int code(long key) {
    throw new IllegalStateException("these levels are texts");
  }

  @Override
  public int code(UTF8String text) {
    int[] codes = table();
    int mask = codes.length - 1;
    for (int slot = spread(text.hashCode(), mask); ; slot = (slot + 1) & mask) {
      int code = codes[slot] - 1;
      if (code < 0 || text(code).equals(text)) {
        return code;
      }
    }
  }

  /** Codes + 1; 0: none. */
  private int[] table() {
    int[] codes = table;
    if (codes == null) {
      codes = new int[tableSize(end.length)];
      int mask = codes.length - 1;
      for (int k = 0; k < end.length; k++) {
        int slot = spread(text(k).hashCode(), mask);
        while (codes[slot] != 0) {
          slot = (slot + 1) & mask;
        }
        codes[slot] = k + 1;
      }
      table = codes;
    }
    return codes;
  }

  @Override
  public String name(int code) {
    int begin = begin(code);
    return new String(bytes, begin, end[code] - begin, StandardCharsets.UTF_8);
  }

  @Override
  public int named(String name) {
    byte[] wanted = name.getBytes(StandardCharsets.UTF_8);
    int low = 0;
    int high = end.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int c = Arrays.compareUnsigned(bytes, begin(middle), end[middle], wanted, 0, wanted.length);
      if (c == 0) {
        return middle;
      }
      low = c < 0 ? middle + 1 : low;
      high = c > 0 ? middle - 1 : high;
    }
    return NONE;
  }
}
