/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.design.level.Factor;
import io.sparqr.spark.design.level.LevelKind;
import io.sparqr.spark.design.level.NumberLevels;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a term: all combinations of the columns of its variables, those of the first
 * variable varying fastest, as in R. If there are more than {@link #ALL}, and for absorbed effects,
 * only the combinations that occur in rows.
 *
 * @param variables indices of slots
 * @param contrast for each variable whether it is a factor without its reference level
 * @param widths number of columns of each variable alone
 * @param first the first column
 * @param cells the combinations that occur in rows, ascending, unless all have columns
 * @param absorbed whether its coefficients are absorbed
 * @param occurring number of combinations of levels that occur, those of reference levels included;
 *     -1: not counted
 */
record Block(
    int[] variables,
    boolean[] contrast,
    int[] widths,
    int first,
    @Nullable NumberLevels cells,
    boolean absorbed,
    int occurring)
    implements Serializable {

  /** Up to this many combinations, each has a column even if it never occurs, as in R. */
  static final int ALL = 1 << 16;

  /** Number of combinations. */
  long combinations() {
    long product = 1;
    for (int w : widths) {
      product = times(product, w);
    }
    return product;
  }

  private static long times(long a, int b) {
    try {
      return Math.multiplyExact(a, (long) b);
    } catch (ArithmeticException e) {
      throw new IndexOverflowException(
          "an interaction of more than 2^63 combinations", "combinations", Long.MAX_VALUE);
    }
  }

  /** Whether only combinations that occur have columns: of absorbed effects, and of too many. */
  boolean sparse() {
    return variables.length > 1 && (absorbed || combinations() > ALL);
  }

  /** Number of columns. */
  int width() {
    return cells != null ? cells.count() : Math.toIntExact(combinations());
  }

  Block at(int column) {
    return new Block(variables, contrast, widths, column, cells, absorbed, occurring);
  }

  Block asAbsorbed() {
    return new Block(variables, contrast, widths, first, cells, true, occurring);
  }

  /** With a column for these combinations alone. */
  Block with(NumberLevels found) {
    return new Block(variables, contrast, widths, first, found, absorbed, occurring);
  }

  /** The block in which every level of every factor has a column. */
  Block withAllLevels(Factor[] factors) {
    int[] all = widths.clone();
    for (int k = 0; k < all.length; k++) {
      all[k] = factors[variables[k]].count();
    }
    return new Block(
        variables, new boolean[contrast.length], all, first, null, absorbed, occurring);
  }

  /**
   * With columns for the combinations among those of {@link #withAllLevels} that have one here.
   *
   * @param found combinations of all levels, ascending
   */
  Block amongAllLevels(NumberLevels found, Factor[] factors) {
    long[] all = found.keys();
    long[] own = new long[all.length];
    int count = 0;
    for (long combination : all) {
      long rest = combination;
      long key = 0;
      long stride = 1;
      boolean column = true;
      for (int k = 0; k < variables.length; k++) {
        int levels = factors[variables[k]].count();
        long at = rest % levels - (contrast[k] ? 1 : 0);
        rest /= levels;
        column &= at >= 0;
        key += stride * at;
        stride *= widths[k];
      }
      if (column) {
        own[count++] = key;
      }
    }
    own = Arrays.copyOf(own, count);
    Arrays.sort(own);
    NumberLevels cells = new NumberLevels(LevelKind.INTEGER, own);
    return new Block(variables, contrast, widths, first, cells, absorbed, all.length);
  }

  /** The column of a combination, or -1. */
  int column(long combination) {
    if (cells == null) {
      return first + (int) combination;
    }
    int code = cells.code(combination);
    return code < 0 ? -1 : first + code;
  }

  /**
   * Adds the columns of the reference levels of factors that have a column for every level.
   *
   * @param wanted whether a variable is such a factor
   */
  void addReferences(IntPredicate wanted, IntStream.Builder columns) {
    long stride = 1;
    for (int k = 0; k < variables.length; k++) {
      for (int c = 0; wanted.test(variables[k]) && !contrast[k] && c < width(); c++) {
        long combination = cells == null ? c : cells.keys()[c];
        if (combination / stride % widths[k] == 0) {
          columns.add(first + c);
        }
      }
      stride *= widths[k];
    }
  }

  /** Whether several levels of a factor may be without a column: combinations by contrasts. */
  boolean hidesLevels() {
    boolean any = false;
    for (boolean c : contrast) {
      any |= c;
    }
    return any && absorbed && variables.length > 1;
  }

  /** The term's name, as in a formula. */
  String variableName(List<Slot> slots) {
    return Arrays.stream(variables)
        .mapToObj(v -> slots.get(v).variable().name())
        .collect(Collectors.joining(":"));
  }

  /** Number of levels of a factor, those without a column included. */
  int levels(Factor[] factors) {
    return variables.length == 1 ? factors[variables[0]].count() : occurring;
  }

  /** The name of a column, as in R. */
  String name(int column, List<Slot> slots, Factor[] factors) {
    long rest = cells == null ? column - first : cells.keys()[column - first];
    var name = new StringBuilder();
    for (int k = 0; k < variables.length; k++) {
      int v = variables[k];
      int at = (int) (rest % widths[k]);
      rest /= widths[k];
      Slot slot = slots.get(v);
      name.append(k == 0 ? "" : ":");
      if (slot.factor()) {
        name.append(slot.variable().name()).append(factors[v].name(at + (contrast[k] ? 1 : 0)));
      } else {
        name.append(slot.vector() ? slot.entries().get(at) : slot.variable().name());
      }
    }
    return name.toString();
  }
}
