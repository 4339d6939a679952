/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Whether this problem is one for a QR factorization, by the numbers of its analysis. Seconds are
 * orders of magnitude: they compare ways that differ by factors.
 *
 * <ul>
 *   <li>QR is advised unless a rule below holds, since it gives all digits, the rank and errors.
 *   <li>LSQR, if a task does not fit an executor, or if QR takes more than {@link #PATIENCE}
 *       seconds and {@link #FACTOR} times as long as {@link #STEPS} steps of LSQR.
 *   <li>MLlib's normal equations, up to {@link #MOST_FEATURES} columns, if QR takes more than a
 *       minute and {@link #NORMAL_FACTOR} times as long.
 *   <li>Absorbed effects, if QR takes more than a minute and {@link #EFFECT_SHARE} of the columns
 *       are levels of effects, with others beside them.
 * </ul>
 *
 * @param take "qr", "lsqr", "normal" or "absorb"
 * @param reason why, in one line
 * @param ways what each way takes, QR first
 */
public record Advice(String take, String reason, List<Way> ways) {

  /** Steps of LSQR that are counted. */
  public static final int STEPS = 1000;

  /**
   * The condition up to which these give six digits. The error falls by (k - 1) / (k + 1) a step
   * for a condition of k (Paige and Saunders 1982, as conjugate gradients on A'A), so that k = 2
   * steps / ln(2 / 1e-6).
   */
  public static final double CONDITION = 2 * STEPS / Math.log(2e6);

  /** A step reads each nonzero, index and value, twice: 24 bytes at 10 GB a second. */
  static final double STEP_SECONDS_PER_NONZERO = 24 / 1e10;

  /** Seconds that a factorization may take before another way is looked for at all. */
  static final double PATIENCE = 600;

  static final double FACTOR = 10;

  /** The limit of MLlib's solver "normal". */
  static final int MOST_FEATURES = 4096;

  /** Flops a second of MLlib's sums of outer products, without blocks, on one core. */
  static final double NORMAL_FLOPS = 1e9;

  static final double NORMAL_FACTOR = 2;

  static final double EFFECT_SHARE = 0.9;

  private static final double MINUTE = 60;

  /** What may be left of an executor's heap to its tasks, as for a solve. */
  private static final double USABLE = 0.85;

  private static final String PAGE = "docs/guide/which.md#when-r-is-too-large";

  /**
   * A way to solve the problem.
   *
   * @param method as in {@link Advice#take}
   * @param seconds predicted; NaN where that depends on the data
   * @param bytes of memory for more than A
   * @param condition of A up to which it serves
   */
  public record Way(String method, double seconds, double bytes, double condition) {}

  /** Copies the list. */
  public Advice {
    ways = List.copyOf(ways);
  }

  /**
   * The advice for a problem.
   *
   * @param s its analysis
   * @param seconds that QR is predicted to take
   * @param taskBytes heap that an executor needs at a time
   * @param heapBytes heap of an executor
   * @param effects columns that are levels of effects ({@link #effectColumns})
   */
  public static Advice of(
      SymbolicSummary s, double seconds, long taskBytes, long heapBytes, int effects) {
    var ways = new ArrayList<Way>();
    double n = s.columns();
    ways.add(new Way("qr", seconds, Math.max(taskBytes, Double.BYTES * s.nonzerosOfR()), 1e14));
    double lsqr = STEPS * STEP_SECONDS_PER_NONZERO * s.nonzeros();
    ways.add(new Way("lsqr", lsqr, Double.BYTES * (2 * n + s.rows()), CONDITION));
    double normal = Double.POSITIVE_INFINITY;
    if (n <= MOST_FEATURES && s.rows() > 0) {
      double mean = (double) s.nonzeros() / s.rows();
      normal = (s.rows() * mean * mean + n * n * n / 3) / NORMAL_FLOPS;
      ways.add(new Way("normal", normal, Double.BYTES * n * (n + 1) / 2, 1e6));
    }
    boolean absorbable = effects < n && effects >= EFFECT_SHARE * n;
    if (absorbable) {
      ways.add(new Way("absorb", Double.NaN, Double.BYTES * (double) s.rows(), 1e14));
    }
    return decided(s, ways, seconds, lsqr, normal, absorbable ? effects : 0, taskBytes, heapBytes);
  }

  private static Advice decided(
      SymbolicSummary s,
      List<Way> ways,
      double seconds,
      double lsqr,
      double normal,
      int effects,
      long taskBytes,
      long heapBytes) {
    String work = SymbolicSummary.flopsText(s.flops());
    if (effects > 0 && seconds > MINUTE) {
      return new Advice(
          "absorb",
          text(
              "%,d of %,d columns are levels of effects: if their own coefficients are not wanted,"
                  + " absorb them (feols, or AbsorbedFactor); QR of all takes %s, about %.3g s",
              effects, s.columns(), work, seconds),
          ways);
    }
    if (taskBytes > USABLE * heapBytes) {
      return new Advice(
          "lsqr",
          text(
              "a task of QR takes %s and an executor has %s, for %s: LSQR needs no R, and gives six"
                  + " digits in about %.3g s up to a condition of %.0f (%s)",
              SymbolicSummary.bytesText(taskBytes),
              SymbolicSummary.bytesText(USABLE * heapBytes),
              work,
              lsqr,
              CONDITION,
              PAGE),
          ways);
    }
    if (normal < Double.POSITIVE_INFINITY && seconds > MINUTE && seconds > NORMAL_FACTOR * normal) {
      return new Advice(
          "normal",
          text(
              "QR takes %s, about %.3g s; MLlib's normal equations about %.3g s, for a condition"
                  + " below 1e6",
              work, seconds, normal),
          ways);
    }
    if (seconds > PATIENCE && seconds > FACTOR * lsqr) {
      return new Advice(
          "lsqr",
          text(
              "QR takes %s, about %.3g s; LSQR gives six digits in about %.3g s up to a condition"
                  + " of %.0f, without rank or errors (%s)",
              work, seconds, lsqr, CONDITION, PAGE),
          ways);
    }
    return new Advice(
        "qr",
        text(
            "%s, about %.3g s, and it fits: all digits, the rank and standard errors",
            work, seconds),
        ways);
  }

  /**
   * Columns that are levels of effects: the k-th nonzeros of all rows lie in a range of columns of
   * their own, which has more than one column. O(nonzeros of the distinct patterns).
   *
   * @param pattern rows with ascending columns
   */
  public static int effectColumns(SparsityPattern pattern) {
    int width = Integer.MAX_VALUE;
    for (int i = 0; i < pattern.patterns(); i++) {
      width = (int) Math.min(width, pattern.rowStart()[i + 1] - pattern.rowStart()[i]);
    }
    if (pattern.patterns() == 0 || width == 0) {
      return 0;
    }
    int[] least = new int[width + 1];
    int[] most = new int[width + 1];
    Arrays.fill(least, pattern.columns());
    Arrays.fill(most, -1);
    for (int i = 0; i < pattern.patterns(); i++) {
      long begin = pattern.rowStart()[i];
      long length = pattern.rowStart()[i + 1] - begin;
      for (int k = 0; k < length; k++) {
        int at = Math.min(k, width);
        int j = pattern.columnIndex()[(int) (begin + k)];
        least[at] = Math.min(least[at], j);
        most[at] = Math.max(most[at], j);
      }
    }
    int columns = 0;
    for (int k = 0; k < width; k++) {
      boolean own = (k == 0 || most[k - 1] < least[k]) && most[k] < least[k + 1];
      columns += own && most[k] > least[k] ? most[k] - least[k] + 1 : 0;
    }
    return columns;
  }

  /** Keys and values of the JSON form. */
  public Map<String, Object> toMap() {
    var map = new LinkedHashMap<String, Object>();
    map.put("take", take);
    map.put("reason", reason);
    var list = new ArrayList<Map<String, Object>>();
    for (Way way : ways) {
      var one = new LinkedHashMap<String, Object>();
      one.put("method", way.method);
      one.put("seconds", Double.isFinite(way.seconds) ? way.seconds : null);
      one.put("bytes", way.bytes);
      one.put("condition", way.condition);
      list.add(one);
    }
    map.put("ways", list);
    return map;
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
