/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Counts of faults by place and outcome. */
public final class FaultTally {

  /** The outcome of a fault. */
  public enum Verdict {
    /** The result is right, and there was no message. */
    HARMLESS,
    /** Detected, and the result is right; the summary counts it and has a warning. */
    MENDED,
    /** An error that names the problem, and no result. */
    REFUSED,
    /** A wrong result. */
    MISSED
  }

  /** One fault. */
  public record Outcome(Verdict verdict, String what) {}

  private final Map<String, long[]> counts = new TreeMap<>();
  private final Set<Fault> kinds = EnumSet.noneOf(Fault.class);
  private final Map<String, Long> refusals = new TreeMap<>();
  private final List<String> missed = new ArrayList<>();
  private long undecided;
  private double gram;
  private double x;
  private double q;

  /** Adds a fault. */
  public void add(Fault fault, String where, int bit, Outcome outcome) {
    kinds.add(fault);
    String key = "| %-26s | %-13s |".formatted(where, bits(bit));
    counts.computeIfAbsent(key, k -> new long[4])[outcome.verdict().ordinal()]++;
    if (outcome.verdict() == Verdict.MISSED) {
      missed.add(where + ", bit " + bit + ": " + outcome.what());
    } else if (outcome.verdict() == Verdict.REFUSED) {
      refusals.merge(outcome.what(), 1L, Long::sum);
    }
  }

  /** Notes a rank that differs by a pivot whose square is below c eps. */
  public void undecided() {
    undecided++;
  }

  /** Records the error of a result that counts as right: of R'R and Q, as a part of c eps. */
  public void allowed(double ofGram, double ofX, double ofQ) {
    gram = Math.max(gram, ofGram);
    x = Math.max(x, ofX);
    q = Math.max(q, ofQ);
  }

  private static String bits(int bit) {
    return bit < 0
        ? ""
        : bit == 63 ? "sign" : bit > 51 ? "exponent" : bit > 25 ? "mantissa high" : "mantissa low";
  }

  /** Faults of a kind. */
  public long count(Verdict v) {
    return counts.values().stream().mapToLong(c -> c[v.ordinal()]).sum();
  }

  /** Kinds of faults that were put in. */
  public Set<Fault> kinds() {
    return kinds;
  }

  /** Those that were missed. */
  public List<String> missed() {
    return missed;
  }

  /** The table. */
  @Override
  public String toString() {
    var s = new StringBuilder();
    s.append("| where | bits | put in | harmless | mended | refused | missed |\n");
    s.append("|---|---|---|---|---|---|---|\n");
    long[] all = new long[4];
    for (var e : counts.entrySet()) {
      row(s, e.getKey(), e.getValue());
      for (int k = 0; k < 4; k++) {
        all[k] += e.getValue()[k];
      }
    }
    row(s, "| %-26s | %-13s |".formatted("all", ""), all);
    s.append(
        String.format(
            Locale.ROOT,
            "largest change that was let through: of R'R %.2g c eps, of x %.1e, of kept Q %.2g c"
                + " eps%n",
            gram,
            x,
            q));
    s.append("of the harmless and mended, with another rank by a pivot below sqrt(c eps): ")
        .append(undecided)
        .append('\n');
    refusals.forEach(
        (what, n) -> s.append("refused with ").append(what).append(": ").append(n).append('\n'));
    missed.stream().limit(200).forEach(m -> s.append("MISSED ").append(m).append('\n'));
    return s.toString();
  }

  private static void row(StringBuilder s, String key, long[] c) {
    s.append(
        String.format(
            "%s %8d | %8d | %8d | %8d | %6d |%n",
            key, c[0] + c[1] + c[2] + c[3], c[0], c[1], c[2], c[3]));
  }
}
