/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;

/**
 * Decodes text without replacement characters: malformed bytes are a {@link MalformedTextException}
 * with their line, after all characters before them have been delivered. A byte order mark at the
 * beginning is skipped.
 */
final class StrictReader extends Reader {

  private static final int BYTES = 1 << 15;
  private static final char MARK = '\uFEFF';

  private final InputStream in;
  private final CharsetDecoder decoder;
  private final ByteBuffer bytes = ByteBuffer.allocate(BYTES).flip();
  private boolean begun;
  private boolean ended;
  private boolean malformed;
  private boolean lastWasReturn;
  private long lines = 1;

  StrictReader(InputStream in, Charset charset) {
    this.in = in;
    this.decoder =
        charset
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
  }

  @Override
  public int read(char[] to, int at, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    CharBuffer out = CharBuffer.wrap(to, at, length).slice();
    // A surrogate pair needs two places; callers' buffers have more.
    while (out.position() == 0) {
      if (malformed) {
        throw new MalformedTextException(decoder.charset().name(), lines);
      }
      CoderResult result = decoder.decode(bytes, out, ended);
      malformed = result.isError();
      if (out.position() > 0 || malformed) {
        continue;
      }
      if (ended) {
        return -1;
      }
      fill();
    }
    int count = out.position();
    if (!begun) {
      begun = true;
      if (to[at] == MARK) {
        System.arraycopy(to, at + 1, to, at, count - 1);
        count--;
        if (count == 0) {
          return read(to, at, length);
        }
      }
    }
    count(to, at, count);
    return count;
  }

  private void fill() throws IOException {
    bytes.compact();
    int n = in.read(bytes.array(), bytes.position(), bytes.remaining());
    if (n < 0) {
      ended = true;
    } else {
      bytes.position(bytes.position() + n);
    }
    bytes.flip();
  }

  private void count(char[] text, int at, int count) {
    for (int k = at; k < at + count; k++) {
      char c = text[k];
      if (c == '\r' || (c == '\n' && !lastWasReturn)) {
        lines++;
      }
      lastWasReturn = c == '\r';
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
