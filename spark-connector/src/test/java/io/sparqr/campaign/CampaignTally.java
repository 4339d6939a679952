/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Counts of a campaign by family and by options, and the first cases of each kind. */
final class CampaignTally {

  /** Cases kept for each check and family. */
  private static final int EXAMPLES = 3;

  private static final class Line {
    long problems;
    long solves;
    long nanos;
    final Map<Check, Long> wrong = new EnumMap<>(Check.class);
  }

  private final Map<String, Line> families = new TreeMap<>();
  private final Map<OptionSet, Line> options = new EnumMap<>(OptionSet.class);
  private final Map<String, List<String>> examples = new TreeMap<>();

  /** Adds a problem. */
  synchronized void problem(CampaignProblem p) {
    families.computeIfAbsent(p.family(), k -> new Line()).problems++;
  }

  /**
   * Adds the solves of a problem with some options, and the time that they took with the checks.
   */
  synchronized void solves(CampaignProblem p, OptionSet o, int count, long nanos) {
    Line family = families.computeIfAbsent(p.family(), k -> new Line());
    family.solves += count;
    family.nanos += nanos;
    Line line = options.computeIfAbsent(o, k -> new Line());
    line.solves += count;
    line.problems++;
    line.nanos += nanos;
  }

  /** Adds what was found. */
  synchronized void findings(CampaignProblem p, RankOracle oracle, List<AnswerChecks.Finding> all) {
    for (AnswerChecks.Finding f : all) {
      families.get(p.family()).wrong.merge(f.check(), 1L, Long::sum);
      options.get(f.options()).wrong.merge(f.check(), 1L, Long::sum);
      List<String> some =
          examples.computeIfAbsent(f.check().column() + " " + p.family(), k -> new ArrayList<>());
      if (some.size() < EXAMPLES) {
        some.add("%s %s: %s [%s]".formatted(p, f.options(), f.what(), oracle));
      }
    }
  }

  synchronized long solves() {
    return families.values().stream().mapToLong(l -> l.solves).sum();
  }

  /** Number of findings of a kind in all families. */
  synchronized long count(Check check) {
    return families.values().stream().mapToLong(l -> l.wrong.getOrDefault(check, 0L)).sum();
  }

  /** Number of findings. */
  long count() {
    long sum = 0;
    for (Check check : Check.values()) {
      sum += count(check);
    }
    return sum;
  }

  /** Both tables and the first cases. */
  @Override
  public synchronized String toString() {
    var text = new StringBuilder();
    text.append(head("family"));
    families.forEach((name, line) -> text.append(row(name, line)));
    text.append('\n').append(head("options"));
    options.forEach((o, line) -> text.append(row(o.name().toLowerCase(Locale.ROOT), line)));
    text.append(row("all", sum()));
    if (!examples.isEmpty()) {
      text.append("\nfirst cases, as family:index\n");
    }
    examples.forEach(
        (kind, some) -> some.forEach(e -> text.append(kind).append(": ").append(e).append('\n')));
    return text.toString();
  }

  private Line sum() {
    var all = new Line();
    families
        .values()
        .forEach(
            line -> {
              all.problems += line.problems;
              all.solves += line.solves;
              all.nanos += line.nanos;
              line.wrong.forEach((check, count) -> all.wrong.merge(check, count, Long::sum));
            });
    return all;
  }

  private static String head(String what) {
    var text =
        new StringBuilder(
            "| %-18s | %8s | %7s | %7s |".formatted(what, "problems", "solves", "ms each"));
    var rule = new StringBuilder("|---|---|---|---|");
    for (Check check : Check.values()) {
      text.append(" %7s |".formatted(check.column()));
      rule.append("---|");
    }
    return text.append('\n').append(rule).append('\n').toString();
  }

  private static String row(String name, Line line) {
    double milliseconds = line.solves == 0 ? 0 : 1e-6 * line.nanos / line.solves;
    var text =
        new StringBuilder(
            "| %-18s | %8d | %7d | %7.2f |"
                .formatted(name, line.problems, line.solves, milliseconds));
    for (Check check : Check.values()) {
      text.append(" %7d |".formatted(line.wrong.getOrDefault(check, 0L)));
    }
    return text.append('\n').toString();
  }
}
