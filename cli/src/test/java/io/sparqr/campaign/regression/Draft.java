/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.Expression.Name;
import io.sparqr.campaign.regression.Sheet.Column;
import io.sparqr.campaign.regression.Sheet.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntToDoubleFunction;

/** A table in the making, with what the options have to say about its columns. */
final class Draft {

  /** Names as people have them, of two columns in case alone. */
  private static final Map<String, String> ODD =
      Map.of(
          "z",
          "X",
          "g",
          "the group",
          "h",
          "h.1",
          "u",
          "u, v",
          "k",
          "code 1",
          "firm",
          "Firm id",
          "cl",
          "Cluster A",
          "w",
          "w.w",
          "flag",
          "été",
          "off",
          "o");

  private static final List<List<String>> LEVELS =
      List.of(
          List.of("a", "b", "c", "d"),
          List.of("beta", "Gamma", "alpha", "delta"),
          List.of("z", "é", "Z", "y"),
          List.of("New York, NY", "Boston, MA", "Rome", "x y"));

  private final Random random;
  private final int rows;
  private final boolean odd;
  private final Map<String, Column> columns = new LinkedHashMap<>();
  private final Map<String, String> references = new LinkedHashMap<>();
  private final List<String> categorical = new ArrayList<>();
  private final List<String> dependent = new ArrayList<>();
  private boolean closed;
  private String losing = "";

  Draft(Random random, int rows, boolean odd) {
    this.random = random;
    this.rows = rows;
    this.odd = odd;
  }

  Random random() {
    return random;
  }

  int rows() {
    return rows;
  }

  /** A normal number with four decimals. */
  double gauss() {
    return rounded(random.nextGaussian());
  }

  static double rounded(double x) {
    return Math.rint(x * 1e4) / 1e4;
  }

  boolean chance(double p) {
    return random.nextDouble() < p;
  }

  @SafeVarargs
  final <T> T pick(T... some) {
    return some[random.nextInt(some.length)];
  }

  /** The name in the table. */
  String name(String plain) {
    return odd ? ODD.getOrDefault(plain, plain) : plain;
  }

  boolean has(String plain) {
    return columns.containsKey(plain);
  }

  Column column(String plain) {
    return columns.get(plain);
  }

  void forget(String plain) {
    columns.remove(plain);
  }

  /** Those of these columns that are there. */
  List<String> of(String... plain) {
    return Arrays.stream(plain).filter(this::has).toList();
  }

  List<String> plainNames() {
    return List.copyOf(columns.keySet());
  }

  /** No more columns may come that a dot would stand for. */
  void closed() {
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }

  void losesLevel(String factor) {
    losing = factor;
  }

  /** The factor of which the first level is to occur only where a row does not count. */
  String losing() {
    return losing;
  }

  /** Two of the columns that depend on each other. */
  void dependent(String one, String other) {
    dependent.addAll(List.of(name(one), name(other)));
  }

  List<String> dependent() {
    return dependent;
  }

  /** Names a random level of a factor as its reference. */
  void reference(String plain) {
    List<String> levels = new Levels(columns.get(plain)).names();
    references.put(name(plain), levels.get(random.nextInt(levels.size())));
  }

  Map<String, String> references() {
    return references;
  }

  List<String> categorical() {
    return categorical;
  }

  private Expression add(String plain, Kind kind, Object[] values) {
    columns.put(plain, new Column(name(plain), kind, values));
    return Expression.of(name(plain));
  }

  void put(String plain, Column column) {
    columns.put(plain, column);
  }

  Expression numbers(String plain, IntToDoubleFunction value) {
    var x = new Object[rows];
    Arrays.setAll(x, value::applyAsDouble);
    return add(plain, Kind.NUMBER, x);
  }

  Expression normal(String plain) {
    return has(plain) ? Expression.of(name(plain)) : numbers(plain, i -> gauss());
  }

  /** 0 or 1. */
  Expression truthAsNumber(String plain) {
    return numbers(plain, i -> random.nextInt(2));
  }

  Expression truth(String plain) {
    var x = new Object[rows];
    Arrays.setAll(x, i -> i < 2 ? i == 0 : random.nextBoolean());
    return add(plain, Kind.TRUTH, x);
  }

  /** Some of a set of levels. */
  List<String> levels(int most) {
    int count = most == 2 ? 2 : 2 + random.nextInt(most - 1);
    return LEVELS.get(random.nextInt(LEVELS.size())).subList(0, count);
  }

  /** Every level occurs. */
  Expression text(String plain, List<String> levels) {
    if (has(plain)) {
      return Expression.of(name(plain));
    }
    var x = new Object[rows];
    int shift = random.nextInt(rows);
    for (int i = 0; i < rows; i++) {
      int level = i < levels.size() ? i : random.nextInt(levels.size());
      x[(i + shift) % rows] = levels.get(level);
    }
    return add(plain, Kind.TEXT, x);
  }

  /** A number that is a factor, by a function or by an option. */
  Expression coded(String plain) {
    var x = new Object[rows];
    boolean whole = chance(0.6);
    double step = chance(0.5) ? 1 : 0.5;
    int count = 2 + random.nextInt(2);
    int shift = random.nextInt(3) - 1;
    for (int i = 0; i < rows; i++) {
      int level = shift + (i < count ? i : random.nextInt(count));
      // -0 is a level of its own to some.
      double number = level == 0 && chance(0.5) ? -0.0 : level * step;
      x[i] = whole ? (Object) (long) level : (Object) number;
    }
    add(plain, whole ? Kind.WHOLE : Kind.NUMBER, x);
    if (chance(0.3)) {
      categorical.add(name(plain));
      return Expression.of(name(plain));
    }
    return new Name(Variable.factor(name(plain)));
  }

  /** Whole numbers. */
  void wholes(String plain, IntToDoubleFunction value) {
    var x = new Object[rows];
    Arrays.setAll(x, i -> (long) value.applyAsDouble(i));
    add(plain, Kind.WHOLE, x);
  }

  /** Texts made of a number. */
  void labels(String plain, String prefix, IntToDoubleFunction value) {
    var x = new Object[rows];
    Arrays.setAll(x, i -> prefix + (long) value.applyAsDouble(i));
    add(plain, Kind.TEXT, x);
  }

  double[] values(String plain) {
    Column c = columns.get(plain);
    var x = new double[rows];
    Arrays.setAll(x, c::number);
    return x;
  }

  /** A number for each level of a column. */
  double[] byLevel(String plain) {
    var levels = new Levels(columns.get(plain));
    var of = new double[levels.count()];
    Arrays.setAll(of, k -> gauss());
    var x = new double[rows];
    Arrays.setAll(x, i -> of[levels.code(i)]);
    return x;
  }

  /** The response: numbers and levels of all columns, and noise. */
  double[] response() {
    var y = new double[rows];
    for (Column c : columns.values()) {
      if (c.kind().number()) {
        double most = 1e-300;
        for (int i = 0; i < rows; i++) {
          most = Math.max(most, Math.abs(c.number(i)));
        }
        double slope = gauss() / most;
        for (int i = 0; i < rows; i++) {
          y[i] += slope * c.number(i);
        }
      } else {
        var levels = new Levels(c);
        double step = gauss();
        for (int i = 0; i < rows; i++) {
          y[i] += step * levels.code(i);
        }
      }
    }
    for (int i = 0; i < rows; i++) {
      y[i] = rounded(y[i] + 0.7 * gauss() + 1);
    }
    return y;
  }

  Sheet sheet() {
    return new Sheet(List.copyOf(columns.values()));
  }
}
