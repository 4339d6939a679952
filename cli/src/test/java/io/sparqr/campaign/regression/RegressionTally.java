/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.Comparison.Difference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts by way and kind, and every case that disagrees. */
final class RegressionTally {

  private static final int SHOWN = 4;

  private final Map<String, int[]> kinds = new TreeMap<>();
  private final Map<String, int[]> ways = new TreeMap<>();
  private final List<String> disagreements = new ArrayList<>();
  private long figures;

  /** Adds a case solved in one way. */
  void add(RegressionCase c, String way, Comparison comparison) {
    figures += comparison.compared();
    List<Difference> some = comparison.differences();
    int wrong = some.isEmpty() ? 0 : 1;
    count(ways, way, wrong);
    for (String kind : c.kinds()) {
      if (!kind.isEmpty()) {
        count(kinds, kind, wrong);
      }
    }
    if (wrong > 0) {
      var text = new StringBuilder(way + ", " + c);
      for (Difference difference : some.subList(0, Math.min(SHOWN, some.size()))) {
        text.append("\n    ").append(difference);
      }
      if (some.size() > SHOWN) {
        text.append("\n    and ").append(some.size() - SHOWN).append(" more");
      }
      disagreements.add(text.toString());
    }
  }

  private static void count(Map<String, int[]> all, String name, int wrong) {
    int[] counts = all.computeIfAbsent(name, k -> new int[2]);
    counts[0]++;
    counts[1] += wrong;
  }

  int solves() {
    return ways.values().stream().mapToInt(c -> c[0]).sum();
  }

  List<String> disagreements() {
    return disagreements;
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    text.append(figures).append(" figures compared\n");
    List.of(ways, kinds)
        .forEach(
            all -> {
              text.append("%-24s %8s %10s%n".formatted("", "solved", "disagree"));
              all.forEach((name, c) -> text.append("%-24s %8d %10d%n".formatted(name, c[0], c[1])));
            });
    disagreements.forEach(d -> text.append(d).append('\n'));
    return text.toString();
  }
}
