/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import org.jspecify.annotations.Nullable;

/** Errors as one line of text for people. */
public final class ErrorText {

  private static final int LONGEST = 400;

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

  /** The first line of a text, shortened if long; empty for null. */
  public static String firstLine(@Nullable String text) {
    String line = text == null ? "" : text.strip().lines().findFirst().orElse("");
    return line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
  }
}
