/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.spark.design.level.Factor;
import io.sparqr.spark.design.level.LevelKind;
import io.sparqr.spark.design.level.LevelSet;
import io.sparqr.spark.design.level.Levels;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Encodes one row after the other. Column indices ascend, except if those of a sparse vector do
 * not. Not thread-safe.
 */
final class RowEncoder {

  private final List<Slot> slots;
  private final Factor[] factors;
  private final Block[] blocks;
  private final int intercept;
  private final HandleInvalid handleInvalid;
  private final String[] fieldNames;
  private final int firstKey;
  private final int keys;
  private final List<Block> keyed;
  private final long[] leftOut;
  private final int[] position;
  private final double[] number;
  private final VectorEntries[] vector;
  private int[] index = new int[16];
  private double[] value = new double[16];
  private int count;
  private boolean predicting;

  RowEncoder(Coding coding) {
    slots = coding.slots();
    factors = coding.factors();
    blocks = coding.blocks();
    intercept = coding.interceptColumn();
    handleInvalid = coding.options().handleInvalid();
    fieldNames = coding.fieldNames();
    firstKey = Selection.VARIABLES + slots.size();
    keys = coding.options().clusters().size();
    keyed = coding.keyed();
    leftOut = new long[1 + firstKey + keys];
    position = new int[slots.size()];
    number = new double[slots.size()];
    vector = new VectorEntries[slots.size()];
    Arrays.setAll(vector, v -> new VectorEntries());
  }

  /**
   * Adds a row of a fit to a batch, unless it is to be skipped.
   *
   * @param place the place of the row, for an error message
   * @throws NonFiniteValueException if a number is null, NaN or infinite
   * @throws MatrixFormatException if a factor has a missing level, or one unknown to the design, or
   *     the key of a cluster is missing
   */
  void fit(Cells cells, Supplier<String> place, RowBatch into) {
    if (handleInvalid == HandleInvalid.SKIP && lacks(cells, 0, false)) {
      leaveOut(cells);
      return;
    }
    for (int f = 0; f < Selection.VARIABLES; f++) {
      finite(cells, f, place);
    }
    for (int k = 0; k < keys; k++) {
      requireKey(cells, firstKey + k, place);
    }
    if (encode(cells, place)) {
      double label = cells.number(Selection.LABEL) - cells.number(Selection.OFFSET);
      into.add(index, value, count, label, cells.number(Selection.WEIGHT));
      for (int k = 0; k < keys; k++) {
        into.key(k, cells.text(firstKey + k));
      }
      for (int k = 0; k < keyed.size(); k++) {
        into.key(keys + k, UTF8String.fromString(Long.toString(combination(keyed.get(k)))));
      }
    }
  }

  private void leaveOut(Cells cells) {
    leftOut[0]++;
    for (int f = 0; f < firstKey + keys; f++) {
      int v = f - Selection.VARIABLES;
      boolean variable = v >= 0 && v < slots.size();
      boolean lacks =
          variable && slots.get(v).vector()
              ? lacksEntry(cells, v)
              : cells.missing(
                  f, variable ? kind(slots.get(v)) : v < 0 ? LevelKind.NUMBER : LevelKind.TEXT);
      leftOut[1 + f] += lacks ? 1 : 0;
    }
  }

  /** The number of rows left out, then the numbers of those that lack each field. */
  long[] leftOut() {
    return leftOut;
  }

  private void requireKey(Cells cells, int field, Supplier<String> place) {
    if (cells.missing(field, LevelKind.TEXT)) {
      throw new MatrixFormatException(
          place.get()
              + ": the row has no value in cluster column "
              + fieldNames[field]
              + " "
              + content(cells),
          "cluster",
          -1);
    }
  }

  /**
   * The prediction for a row: offset and x'b.
   *
   * @param x one coefficient per column
   * @return NaN if a number is missing under KEEP, and for a row to be skipped
   */
  double predict(Cells cells, double[] x) {
    if (!encodesNew(cells)) {
      return Double.NaN;
    }
    double sum = 0;
    for (int k = 0; k < count; k++) {
      sum += value[k] * x[index[k]];
    }
    return sum + cells.number(Selection.OFFSET);
  }

  /**
   * sqrt(a'V a) for the row a of the design.
   *
   * @param covariance V, k x k
   * @return NaN as for predictions
   */
  double predictionError(Cells cells, double[][] covariance) {
    if (!encodesNew(cells)) {
      return Double.NaN;
    }
    double sum = 0;
    for (int k = 0; k < count; k++) {
      double[] row = covariance[index[k]];
      double inner = 0;
      for (int l = 0; l < count; l++) {
        inner += row[index[l]] * value[l];
      }
      sum += value[k] * inner;
    }
    return Math.sqrt(Math.max(sum, 0));
  }

  /** Reads a row that is to be predicted; false if it cannot be. */
  private boolean encodesNew(Cells cells) {
    boolean skip = handleInvalid == HandleInvalid.SKIP;
    if (handleInvalid != HandleInvalid.ERROR && lacks(cells, Selection.OFFSET, !skip)) {
      return false;
    }
    predicting = true;
    return encode(cells, () -> "prediction");
  }

  /**
   * Whether a value is missing in the fields from {@code from} on, optionally without the factors.
   * Clusters count with the label.
   */
  boolean lacks(Cells cells, int from, boolean numbersAlone) {
    for (int f = from; f < Selection.VARIABLES; f++) {
      if (cells.missing(f, LevelKind.NUMBER)) {
        return true;
      }
    }
    for (int v = 0; v < slots.size(); v++) {
      Slot slot = slots.get(v);
      int field = Selection.VARIABLES + v;
      boolean relevant = !numbersAlone || !slot.factor();
      if (relevant && (slot.vector() ? lacksEntry(cells, v) : cells.missing(field, kind(slot)))) {
        return true;
      }
    }
    for (int k = 0; from == Selection.LABEL && k < keys; k++) {
      if (cells.missing(firstKey + k, LevelKind.TEXT)) {
        return true;
      }
    }
    return false;
  }

  /** The kind by which missing values of a variable are recognized. */
  private static LevelKind kind(Slot slot) {
    return slot.factor() ? slot.levels() : slot.vector() ? LevelKind.TEXT : LevelKind.NUMBER;
  }

  private boolean lacksEntry(Cells cells, int v) {
    int field = Selection.VARIABLES + v;
    if (cells.missing(field, LevelKind.TEXT)) {
      return true;
    }
    cells.vector(field, vector[v]);
    for (int k = 0; k < vector[v].count(); k++) {
      if (Double.isNaN(vector[v].value(k))) {
        return true;
      }
    }
    return false;
  }

  /** Reads the variables; false if the row is to be skipped. */
  private boolean encode(Cells cells, Supplier<String> place) {
    for (int v = 0; v < position.length; v++) {
      Slot slot = slots.get(v);
      int field = Selection.VARIABLES + v;
      if (slot.factor()) {
        if (!level(cells, v, place)) {
          return false;
        }
      } else if (slot.vector()) {
        readVector(cells, v, place);
      } else {
        finite(cells, field, place);
        number[v] = cells.number(field);
      }
    }
    count = 0;
    boolean before = true;
    for (Block block : blocks) {
      if (before && intercept >= 0 && block.first() > intercept) {
        put(intercept, 1);
        before = false;
      }
      put(block);
    }
    if (before && intercept >= 0) {
      put(intercept, 1);
    }
    return true;
  }

  /** Looks up a factor's level; false if the row is to be skipped. */
  private boolean level(Cells cells, int v, Supplier<String> place) {
    int code = code(cells, v);
    position[v] = factors[v].position(code);
    if (code != Levels.NONE || handleInvalid == HandleInvalid.KEEP) {
      return true;
    }
    if (handleInvalid == HandleInvalid.SKIP && predicting) {
      return false;
    }
    int field = Selection.VARIABLES + v;
    boolean missing = cells.missing(field, slots.get(v).levels());
    String what =
        missing
            ? fieldNames[field] + " is missing"
            : fieldNames[field]
                + " = "
                + cells.shown(field)
                + " is a level that the fit "
                + (predicting ? "has not seen" : "did not have when levels were collected");
    throw new MatrixFormatException(
        place.get() + ": " + what + " " + content(cells), fieldNames[field], -1);
  }

  /** The code of a level; NONE for a missing one. */
  int code(Cells cells, int v) {
    int field = Selection.VARIABLES + v;
    LevelKind kind = slots.get(v).levels();
    if (cells.missing(field, kind)) {
      return Levels.NONE;
    }
    Levels levels = factors[v].levels();
    return kind == LevelKind.TEXT
        ? levels.code(cells.text(field))
        : levels.code(cells.key(field, kind));
  }

  private void readVector(Cells cells, int v, Supplier<String> place) {
    int field = Selection.VARIABLES + v;
    if (cells.missing(field, LevelKind.TEXT)) {
      throw new MatrixFormatException(
          place.get() + ": " + fieldNames[field] + " is null " + content(cells),
          fieldNames[field],
          -1);
    }
    VectorEntries entries = vector[v];
    cells.vector(field, entries);
    List<String> parts = slots.get(v).entries();
    if (entries.size() != parts.size()) {
      throw new io.sparqr.error.DimensionMismatchException(
          place.get()
              + ": "
              + fieldNames[field]
              + " has "
              + entries.size()
              + " entries, not "
              + parts.size(),
          "entries of " + fieldNames[field],
          parts.size(),
          entries.size());
    }
    for (int k = 0; k < entries.count(); k++) {
      if (!Double.isFinite(entries.value(k))) {
        throw notFinite(place, parts.get(entries.index(k)), entries.value(k) + "", field, cells);
      }
    }
  }

  private void finite(Cells cells, int field, Supplier<String> place) {
    boolean missing = cells.missing(field, LevelKind.NUMBER);
    if (missing || Double.isInfinite(cells.number(field))) {
      throw notFinite(place, fieldNames[field], cells.shown(field), field, cells);
    }
  }

  private NonFiniteValueException notFinite(
      Supplier<String> place, String name, String found, int field, Cells cells) {
    int column = -1;
    for (Block b : blocks) {
      boolean alone = b.variables().length == 1 && b.variables()[0] == field - Selection.VARIABLES;
      column = alone ? b.first() : column;
    }
    return new NonFiniteValueException(
        place.get() + ": " + name + " is " + found + " " + content(cells), -1, column);
  }

  /** The row, for an error message. */
  private String content(Cells cells) {
    var text = new StringBuilder("(");
    // A prediction has neither label nor weight.
    for (int f = predicting ? Selection.OFFSET : 0; f < cells.fields(); f++) {
      // A prediction has no clusters either.
      String name = fieldNames[predicting && f >= firstKey ? f + keys : f];
      if (!name.isEmpty()) {
        text.append(text.length() > 1 ? ", " : "").append(name).append(" = ");
        text.append(cells.shown(f));
      }
    }
    return text.append(")").toString();
  }

  private void put(Block block) {
    long combination = combination(block);
    if (combination < 0) {
      return;
    }
    double product = 1;
    long stride = 1;
    long vectorStride = 0;
    VectorEntries entries = null;
    for (int k = 0; k < block.variables().length; k++) {
      int v = block.variables()[k];
      Slot slot = slots.get(v);
      if (slot.vector()) {
        entries = vector[v];
        vectorStride = stride;
      } else if (!slot.factor()) {
        product *= number[v];
      }
      stride *= block.widths()[k];
    }
    if (entries == null) {
      put(block.column(combination), product);
      return;
    }
    for (int k = 0; k < entries.count(); k++) {
      put(block.column(combination + vectorStride * entries.index(k)), product * entries.value(k));
    }
  }

  /** The combination of the row's factor levels, or -1 if it has no column. */
  private long combination(Block block) {
    long combination = 0;
    long stride = 1;
    for (int k = 0; k < block.variables().length; k++) {
      int v = block.variables()[k];
      if (slots.get(v).factor()) {
        int at = position[v] - (block.contrast()[k] ? 1 : 0);
        if (position[v] == Levels.NONE || at < 0) {
          return -1;
        }
        combination += stride * at;
      }
      stride *= block.widths()[k];
    }
    return combination;
  }

  /** Adds a row's levels to the sets of some factors. */
  void levels(Cells cells, int[] which, LevelSet[] sets) {
    for (int k = 0; k < which.length; k++) {
      int field = Selection.VARIABLES + which[k];
      LevelKind kind = slots.get(which[k]).levels();
      if (cells.missing(field, kind)) {
        sets[k].addMissing();
      } else if (kind == LevelKind.TEXT) {
        sets[k].add(cells.text(field));
      } else {
        sets[k].add(cells.key(field, kind));
      }
    }
  }

  /** Adds the combinations of levels in a row, for some blocks, to their sets. */
  void combinations(Cells cells, List<Block> of, LevelSet[] sets) {
    for (int v = 0; v < position.length; v++) {
      if (slots.get(v).factor()) {
        position[v] = factors[v].position(code(cells, v));
      }
    }
    for (int k = 0; k < sets.length; k++) {
      Block block = of.get(k);
      long from = combination(block);
      if (from < 0) {
        continue;
      }
      // Each entry of a vector has its own column, even if it is 0.
      long stride = 1;
      long vectorStride = 0;
      int parts = 1;
      for (int i = 0; i < block.variables().length; i++) {
        if (slots.get(block.variables()[i]).vector()) {
          vectorStride = stride;
          parts = block.widths()[i];
        }
        stride *= block.widths()[i];
      }
      for (int i = 0; i < parts; i++) {
        sets[k].add(from + vectorStride * i);
      }
    }
  }

  private void put(int column, double entry) {
    if (column < 0 || entry == 0) {
      return;
    }
    if (count == index.length) {
      index = Arrays.copyOf(index, 2 * count);
      value = Arrays.copyOf(value, 2 * count);
    }
    index[count] = column;
    value[count++] = entry;
  }
}
