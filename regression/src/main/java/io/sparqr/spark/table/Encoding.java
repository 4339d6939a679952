/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of a file by its first bytes.
 *
 * @param name of the charset
 * @param note what has to be said, if anything
 */
record Encoding(String name, @Nullable String note) {

  private static final int[][] MARKS = {
    {0xef, 0xbb, 0xbf}, {0xff, 0xfe, 0, 0}, {0, 0, 0xfe, 0xff}, {0xff, 0xfe}, {0xfe, 0xff}
  };
  private static final List<String> MARKED =
      List.of("UTF-8", "UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE");

  /** Few enough bytes to be looked at for zeros. */
  private static final int LOOKED_AT = 4096;

  /**
   * Finds the encoding: by a byte order mark, else as asked, else by zero bytes (UTF-16), else
   * UTF-8, or windows-1252 where the bytes are no UTF-8.
   *
   * @param head the first bytes
   * @param whole whether they are the whole file
   * @param asked the encoding that was asked for, if one was
   */
  static Encoding of(byte[] head, boolean whole, @Nullable Charset asked) {
    for (int k = 0; k < MARKS.length; k++) {
      if (begins(head, MARKS[k])) {
        String name = MARKED.get(k);
        boolean same = asked == null ? k == 0 : name.startsWith(asked.name());
        return new Encoding(name, same ? null : "encoding " + name + ", by its byte order mark");
      }
    }
    if (asked != null) {
      return new Encoding(asked.name(), null);
    }
    String wide = wide(head);
    if (wide != null) {
      return new Encoding(wide, "encoding " + wide + ", by its zero bytes");
    }
    return isText(head, whole) ? new Encoding("UTF-8", null) : windows();
  }

  /** What is left if a file is not UTF-8. */
  static Encoding windows() {
    return new Encoding(Dialect.WINDOWS, "encoding windows-1252 (latin1), because it is not UTF-8");
  }

  private static boolean begins(byte[] head, int[] mark) {
    for (int k = 0; k < mark.length; k++) {
      if (k >= head.length || (head[k] & 0xff) != mark[k]) {
        return false;
      }
    }
    return true;
  }

  /** UTF-16 without a mark: every other byte is zero where the text is mostly ASCII. */
  private static @Nullable String wide(byte[] head) {
    int n = Math.min(LOOKED_AT, head.length & ~1);
    int even = 0;
    int odd = 0;
    for (int k = 0; k < n; k += 2) {
      even += head[k] == 0 ? 1 : 0;
      odd += head[k + 1] == 0 ? 1 : 0;
    }
    int half = n / 2;
    if (half > 1 && odd > 0.6 * half && even == 0) {
      return "UTF-16LE";
    }
    return half > 1 && even > 0.6 * half && odd == 0 ? "UTF-16BE" : null;
  }

  private static boolean isText(byte[] head, boolean whole) {
    int length = head.length;
    if (!whole) {
      // A character may be cut in two.
      int last = length - 1;
      while (last > length - 4 && last > 0 && (head[last] & 0xc0) == 0x80) {
        last--;
      }
      length = last;
    }
    try (Reader text =
        new StrictReader(new ByteArrayInputStream(head, 0, length), StandardCharsets.UTF_8)) {
      char[] buffer = new char[1 << 14];
      while (text.read(buffer, 0, buffer.length) >= 0) {
        // Only whether it can be decoded matters.
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
