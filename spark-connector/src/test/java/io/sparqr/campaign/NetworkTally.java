/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.campaign.Networks.Network;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts of a {@link NetworkSurvey} by kind and size, and the first cases. */
final class NetworkTally {

  private static final int EXAMPLES = 20;

  /** What LAPACK's SVD says where our rank is wrong. */
  enum Svd {
    RIGHT,
    WRONG,
    NOT_TRIED
  }

  /** What became of a network; one with a false norm is counted as right or wrong as well. */
  enum Outcome {
    RIGHT("right"),
    WARNED("wrong, warned"),
    SILENT("wrong, silent"),
    SVD_RIGHT("SVD right"),
    FALSE_NORM("false norm"),
    ERROR("error");

    private final String title;

    Outcome(String title) {
      this.title = title;
    }
  }

  private final Map<String, Map<Outcome, Long>> lines = new TreeMap<>();
  private final List<String> examples = new ArrayList<>();

  void right(Network n) {
    add(n, Outcome.RIGHT, "");
  }

  void wrong(Network n, boolean warned, Svd svd, String what) {
    add(n, warned ? Outcome.WARNED : Outcome.SILENT, what + ", SVD " + svd);
    if (svd == Svd.RIGHT) {
      add(n, Outcome.SVD_RIGHT, "");
    }
  }

  void falseNorm(Network n, String what) {
    add(n, Outcome.FALSE_NORM, what);
  }

  void error(Network n, String what) {
    add(n, Outcome.ERROR, what);
  }

  private synchronized void add(Network n, Outcome outcome, String example) {
    int columns = n.a().columns();
    String size = columns <= 180 ? "to 180" : columns <= 3000 ? "to 3,000" : "to 60,000";
    lines
        .computeIfAbsent(n.kind() + ", " + size, k -> new EnumMap<>(Outcome.class))
        .merge(outcome, 1L, Long::sum);
    if (!example.isEmpty() && examples.size() < EXAMPLES) {
      examples.add(outcome.title + ": " + example);
    }
  }

  /** Networks of an outcome. */
  synchronized long count(Outcome outcome) {
    return lines.values().stream().mapToLong(l -> l.getOrDefault(outcome, 0L)).sum();
  }

  @Override
  public synchronized String toString() {
    var text = new StringBuilder("| %-26s | %8s |".formatted("networks, unknowns", "number"));
    for (Outcome o : Outcome.values()) {
      text.append(" %13s |".formatted(o.title));
    }
    text.append("\n|---|---|").append("---|".repeat(Outcome.values().length)).append('\n');
    lines.forEach((name, line) -> text.append(row(name, line)));
    var all = new EnumMap<Outcome, Long>(Outcome.class);
    for (Outcome o : Outcome.values()) {
      all.put(o, count(o));
    }
    text.append(row("all", all));
    examples.forEach(e -> text.append(e).append('\n'));
    return text.toString();
  }

  private static String row(String name, Map<Outcome, Long> line) {
    long number = 0;
    for (Outcome o : List.of(Outcome.RIGHT, Outcome.WARNED, Outcome.SILENT, Outcome.ERROR)) {
      number += line.getOrDefault(o, 0L);
    }
    var text = new StringBuilder("| %-26s | %8d |".formatted(name, number));
    for (Outcome o : Outcome.values()) {
      text.append(" %13d |".formatted(line.getOrDefault(o, 0L)));
    }
    return text.append('\n').toString();
  }
}
