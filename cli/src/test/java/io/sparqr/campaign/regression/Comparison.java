/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/** The differences between what is right and what was found. */
final class Comparison {

  /** One difference: what differs, and how. */
  record Difference(String what, String how) {
    @Override
    public String toString() {
      return what + ": " + how;
    }
  }

  /** What the name of a scalar begins with that is printed with a few digits. */
  static final String PRINTED = "printed ";

  private final List<Difference> all = new ArrayList<>();
  private int compared;

  Comparison(Expected right, Found found) {
    if (right.fails() || found.failed()) {
      compared++;
      if (!right.fails() || !found.error().contains(right.error())) {
        String wanted = right.fails() ? "\"" + right.error() + "\"" : "a fit";
        String got = found.failed() ? found.error() : "a fit";
        all.add(new Difference("error", got + " instead of " + wanted));
      }
      return;
    }
    table(right, found);
    for (Map.Entry<String, Double> e : found.scalars().entrySet()) {
      boolean printed = e.getKey().startsWith(PRINTED);
      String name = printed ? e.getKey().substring(PRINTED.length()) : e.getKey();
      Figure f = right.scalars().get(name);
      if (f != null) {
        check(e.getKey(), "", printed ? f.rounded() : f, e.getValue());
      }
    }
  }

  List<Difference> differences() {
    return all;
  }

  /** Number of figures compared. */
  int compared() {
    return compared;
  }

  private void table(Expected right, Found found) {
    List<String> names = right.coefficients().stream().map(Expected.Coefficient::name).toList();
    List<String> got = found.rows().stream().map(Found.Line::name).toList();
    boolean same =
        right.ordered()
            ? names.equals(got)
            : names.size() == got.size() && new HashSet<>(names).equals(new HashSet<>(got));
    compared++;
    if (!same) {
      all.add(new Difference("names", got + " instead of " + names));
      return;
    }
    for (Found.Line line : found.rows()) {
      Expected.Coefficient c = right.coefficients().get(names.indexOf(line.name()));
      String of = " of " + c.name();
      boolean defined = !Double.isNaN(line.estimate());
      if (defined != c.defined() && !c.estimate().orNothing() || defined && !c.defined()) {
        compared++;
        String how =
            defined ? line.estimate() + " but not defined" : "not defined but " + c.estimate();
        all.add(new Difference("defined", of.strip() + " " + how));
        continue;
      }
      check("estimate", of, c.estimate(), line.estimate());
      check("error", of, c.error(), line.error());
      check("t", of, c.t(), line.t());
      check("p", of, c.p(), line.p());
    }
  }

  private void check(String what, String of, Figure right, double found) {
    if (right.any()) {
      return;
    }
    compared++;
    if (!right.allows(found)) {
      all.add(new Difference(what, found + of + " instead of " + right));
    }
  }
}
