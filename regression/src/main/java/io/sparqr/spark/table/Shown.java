/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

/** Texts of a file in messages: one line, not too long. */
final class Shown {

  static final int LONGEST = 60;

  private Shown() {}

  static String of(String text) {
    String line = text.replaceAll("[\\r\\n\\t\\p{Cntrl}]", " ");
    return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "...";
  }
}
