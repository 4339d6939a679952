/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import static java.util.Objects.requireNonNull;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;
import scala.Tuple3;

/** Some levels of a factor, ascending: keys, or texts in the format of {@link TextLevels}. */
public final class LevelChunk implements Serializable {

  private static final long serialVersionUID = 1;

  private final long @Nullable [] keys;
  private final byte @Nullable [] bytes;
  private final int @Nullable [] end;

  private LevelChunk(long @Nullable [] keys, byte @Nullable [] bytes, int @Nullable [] end) {
    this.keys = keys;
    this.bytes = bytes;
    this.end = end;
  }

  /**
   * The levels as plain arrays for collecting on the driver, which cannot deserialize classes from
   * a jar of a Spark Connect session.
   */
  Tuple3<long[], byte[], int[]> arrays() {
    return new Tuple3<>(keys, bytes, end);
  }

  /** The inverse of {@link #arrays}. */
  static LevelChunk of(Tuple3<long[], byte[], int[]> arrays) {
    return new LevelChunk(arrays._1(), arrays._2(), arrays._3());
  }

  public static LevelChunk ofKeys(long[] ascending) {
    return new LevelChunk(ascending, null, null);
  }

  /** Texts in their order. O(bytes). */
  public static LevelChunk ofTexts(List<UTF8String> ascending) {
    long total = 0;
    for (UTF8String t : ascending) {
      total += t.numBytes();
    }
    if (total > Integer.MAX_VALUE - 8) {
      throw new io.sparqr.error.IndexOverflowException(
          "the levels of a text column have " + total + " bytes, at most 2^31 - 9",
          "bytes of levels",
          total);
    }
    var bytes = new byte[(int) total];
    var end = new int[ascending.size()];
    int at = 0;
    for (int k = 0; k < end.length; k++) {
      byte[] text = ascending.get(k).getBytes();
      System.arraycopy(text, 0, bytes, at, text.length);
      at += text.length;
      end[k] = at;
    }
    return new LevelChunk(null, bytes, end);
  }

  public long[] keys() {
    return requireNonNull(keys);
  }

  int count() {
    return keys != null ? keys.length : requireNonNull(end).length;
  }

  UTF8String text(int k) {
    int[] end = requireNonNull(this.end);
    int begin = k == 0 ? 0 : end[k - 1];
    return UTF8String.fromBytes(bytes, begin, end[k] - begin);
  }

  /** The levels of a chunk that holds all of them. */
  public Levels levels(LevelKind kind) {
    return keys != null
        ? new NumberLevels(kind, keys)
        : new TextLevels(requireNonNull(bytes), requireNonNull(end));
  }

  /** The union of two chunks of the same kind. */
  public LevelChunk union(LevelChunk other) {
    return keys != null ? ofKeys(union(keys, other.keys())) : texts(other);
  }

  private static long[] union(long[] a, long[] b) {
    var all = new long[a.length + b.length];
    int i = 0;
    int j = 0;
    int n = 0;
    while (i < a.length && j < b.length) {
      long x = a[i];
      long y = b[j];
      all[n++] = Math.min(x, y);
      i += x <= y ? 1 : 0;
      j += y <= x ? 1 : 0;
    }
    while (i < a.length) {
      all[n++] = a[i++];
    }
    while (j < b.length) {
      all[n++] = b[j++];
    }
    return Arrays.copyOf(all, n);
  }

  private LevelChunk texts(LevelChunk other) {
    var all = new java.util.ArrayList<UTF8String>(count() + other.count());
    int i = 0;
    int j = 0;
    while (i < count() || j < other.count()) {
      int c = i == count() ? 1 : j == other.count() ? -1 : text(i).binaryCompare(other.text(j));
      all.add(c <= 0 ? text(i) : other.text(j));
      i += c <= 0 ? 1 : 0;
      j += c >= 0 ? 1 : 0;
    }
    return ofTexts(all);
  }
}
