/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import org.jspecify.annotations.Nullable;

/** Errors as one line of text for people. */
public final class ErrorText {

  private static final int LONGEST = 400;

  /** The head of a traceback; the frames and, without an indent, the exception follow it. */
  private static final String TRACEBACK = "Traceback (most recent call last):";

  private ErrorText() {}

  /** The error's type and the first line of its message. */
  public static String line(Throwable t) {
    String message = firstLine(t.getMessage());
    return message.isEmpty() ? t.getClass().getName() : t.getClass().getName() + ": " + message;
  }

  /** The first line of the error's message; its type where there is none. */
  public static String message(Throwable t) {
    String message = firstLine(t.getMessage());
    return message.isEmpty() ? t.getClass().getName() : message;
  }

  /**
   * The first line of a text, shortened if long; empty for null. Of a text with a Python traceback,
   * as Spark sends it from a Python worker, the line that names the exception.
   */
  public static String firstLine(@Nullable String text) {
    String line = text == null ? "" : raised(text).strip().lines().findFirst().orElse("");
    return line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
  }

  /** What follows the last traceback's frames, which are indented; without one, the text. */
  private static String raised(String text) {
    int at = text.lastIndexOf(TRACEBACK);
    if (at < 0) {
      return text;
    }
    String frames = text.substring(at + TRACEBACK.length());
    return frames
        .lines()
        .filter(line -> !line.isBlank() && !Character.isWhitespace(line.charAt(0)))
        .findFirst()
        .orElse(text);
  }
}
