/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.spark.doctor.Finding.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Collects the findings of one check in one JVM. */
final class Findings {

  private final String check;
  private final String where;
  private final List<Finding> list = new ArrayList<>();

  Findings(String check, String where) {
    this.check = check;
    this.where = where;
  }

  List<Finding> list() {
    return List.copyOf(list);
  }

  void ok(String format, Object... values) {
    add(Level.OK, "", format, values);
  }

  void note(String remedy, String format, Object... values) {
    add(Level.NOTE, remedy, format, values);
  }

  void warning(String remedy, String format, Object... values) {
    add(Level.WARNING, remedy, format, values);
  }

  void error(String remedy, String format, Object... values) {
    add(Level.ERROR, remedy, format, values);
  }

  private void add(Level level, String remedy, String format, Object... values) {
    list.add(new Finding(level, check, where, String.format(Locale.ROOT, format, values), remedy));
  }
}
