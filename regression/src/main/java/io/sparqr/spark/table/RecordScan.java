/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the first record that begins in a range of bytes without knowing what comes before, for
 * each state that the parser may have at its beginning. The six states run side by side as one
 * automaton, whose states are the vectors of them that occur (subset construction; Hillis and
 * Steele, Data parallel algorithms, CACM 29, 1986, section "Parsing a regular language"): one
 * look-up for each byte.
 */
final class RecordScan {

  /** States of the parser: at the beginning of a record, of a field, within, in quotes, behind. */
  static final int RECORD = 0;

  private static final int FIELD = 1;
  private static final int TEXT = 2;
  private static final int QUOTED = 3;
  private static final int CLOSED = 4;
  private static final int COMMENT = 5;
  private static final int STATES = 6;

  private static final int DELIMITER = 0;
  private static final int QUOTE = 1;
  private static final int BREAK = 2;
  private static final int HASH = 3;
  private static final int SPACE = 4;
  private static final int OTHER = 5;
  private static final int CLASSES = 6;

  /**
   * What a range of bytes does.
   *
   * @param end the state at its end, for each at its beginning
   * @param first the offset at which the first record begins, for each state; -1: none does
   * @param linesBefore line breaks in the range before that record
   * @param lines line breaks in the range
   */
  record Effect(int[] end, long[] first, long[] linesBefore, long lines) implements Serializable {}

  /** UTF-8's byte order mark. */
  private static final int[] MARK = {0xef, 0xbb, 0xbf};

  private final int[] classOf = new int[256];

  RecordScan(Dialect dialect) {
    Arrays.fill(classOf, OTHER);
    for (int b = 0; b <= ' '; b++) {
      classOf[b] = SPACE;
    }
    if (dialect.comment() != 0 && dialect.comment() < 128) {
      classOf[dialect.comment()] = HASH;
    }
    classOf['\n'] = BREAK;
    classOf['\r'] = BREAK;
    classOf[dialect.delimiter()] = DELIMITER;
    classOf[dialect.quote()] = QUOTE;
  }

  private static int next(int state, int c) {
    if (c == BREAK && state != QUOTED) {
      return RECORD;
    }
    return switch (state) {
      case RECORD -> c == HASH ? COMMENT : next(FIELD, c);
      case FIELD ->
          switch (c) {
            case DELIMITER, SPACE -> FIELD;
            case QUOTE -> QUOTED;
            default -> TEXT;
          };
      case TEXT -> c == DELIMITER ? FIELD : TEXT;
      case QUOTED -> c == QUOTE ? CLOSED : QUOTED;
      case CLOSED ->
          switch (c) {
            case DELIMITER -> FIELD;
            case QUOTE -> QUOTED;
            default -> CLOSED;
          };
      default -> COMMENT;
    };
  }

  /** The automaton of vectors, built as they occur. */
  private static final class Vectors {
    private final List<int[]> states = new ArrayList<>();
    private final Map<List<Integer>, Integer> index = new HashMap<>();
    private final List<int[]> after = new ArrayList<>();

    int of(int[] vector) {
      return index.computeIfAbsent(
          Arrays.stream(vector).boxed().toList(),
          v -> {
            states.add(vector);
            int[] none = new int[CLASSES];
            Arrays.fill(none, -1);
            after.add(none);
            return states.size() - 1;
          });
    }

    int step(int v, int c) {
      int[] row = after.get(v);
      if (row[c] < 0) {
        row[c] = of(Arrays.stream(states.get(v)).map(s -> next(s, c)).toArray());
      }
      return row[c];
    }
  }

  /**
   * Reads a range of bytes.
   *
   * @param in positioned at {@code begin}
   * @param before the byte before {@code begin}; -1 at the beginning of the file
   */
  Effect scan(InputStream in, long begin, long end, int before) throws IOException {
    var vectors = new Vectors();
    int v = vectors.of(new int[] {RECORD, FIELD, TEXT, QUOTED, CLOSED, COMMENT});
    long[] first = new long[STATES];
    Arrays.fill(first, -1);
    long[] linesBefore = new long[STATES];
    int open = STATES;
    long lines = 0;
    int last = before;
    byte[] buffer = new byte[1 << 16];
    long at = begin;
    boolean mark = before < 0;
    while (at < end) {
      int n = in.read(buffer, 0, (int) Math.min(buffer.length, end - at));
      if (n < 0) {
        break;
      }
      for (int k = 0; k < n; k++, at++) {
        int b = buffer[k] & 0xff;
        mark = mark && at < MARK.length && b == MARK[(int) at];
        if (mark) {
          // No part of the first field, which may be in quotes.
          continue;
        }
        boolean afterBreak = last < 0 || last == '\n' || (last == '\r' && b != '\n');
        if (open > 0 && afterBreak) {
          int[] now = vectors.states.get(v);
          for (int s = 0; s < STATES; s++) {
            if (now[s] == RECORD && first[s] < 0) {
              first[s] = at;
              linesBefore[s] = lines;
              open--;
            }
          }
        }
        if (b == '\r' || (b == '\n' && last != '\r')) {
          lines++;
        }
        v = vectors.step(v, classOf[b]);
        last = b;
      }
    }
    return new Effect(vectors.states.get(v), first, linesBefore, lines);
  }
}
