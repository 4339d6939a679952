/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

/**
 * One thing that was looked at.
 *
 * @param level how it is
 * @param check what was looked at, in a word
 * @param where the JVM, such as "driver" or "executor 1 on host"
 * @param message what was found, in one line
 * @param remedy the line that mends it: a setting or a command; empty where nothing has to be
 *     mended
 */
public record Finding(Level level, String check, String where, String message, String remedy) {

  /** How serious a finding is, the mildest first. */
  public enum Level {
    /** As it should be. */
    OK,
    /** Good to know. */
    NOTE,
    /** Works, but slower or at a risk. */
    WARNING,
    /** Something would fail. */
    ERROR
  }

  /** Makes each text one line. */
  public Finding {
    message = oneLine(message);
    remedy = oneLine(remedy);
  }

  private static String oneLine(String text) {
    return text.strip().replaceAll("\\s*\\R\\s*", " ");
  }

  /** As texts, since tasks send back classes of Java only. */
  String[] texts() {
    return new String[] {level.name(), check, where, message, remedy};
  }

  /** From {@link #texts}. */
  static Finding of(String[] texts) {
    return new Finding(Level.valueOf(texts[0]), texts[1], texts[2], texts[3], texts[4]);
  }
}
