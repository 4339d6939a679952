/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** What an error says, in a line for a person. */
public final class ErrorText {

  private static final int LONGEST = 400;

  private ErrorText() {}

  /** Its type and the first line of what it says. */
  public static String line(Throwable t) {
    String message = firstLine(t.getMessage());
    return message.isEmpty() ? t.getClass().getName() : t.getClass().getName() + ": " + message;
  }

  /** The first line of what it says; its type where it says nothing. */
  public static String message(Throwable t) {
    String message = firstLine(t.getMessage());
    return message.isEmpty() ? t.getClass().getName() : message;
  }

  /** The first line of a text, not too long; empty for null. */
  public static String firstLine(String text) {
    String line = text == null ? "" : text.strip().lines().findFirst().orElse("");
    return line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
  }
}
