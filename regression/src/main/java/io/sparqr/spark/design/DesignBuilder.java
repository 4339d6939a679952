/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.design.formula.Formula;
import io.sparqr.spark.design.formula.Formula.Term;
import io.sparqr.spark.design.formula.Variable;
import io.sparqr.spark.design.formula.Variable.Function;
import io.sparqr.spark.design.level.Factor;
import io.sparqr.spark.design.level.LevelChunk;
import io.sparqr.spark.design.level.LevelKind;
import io.sparqr.spark.design.level.LevelPass;
import io.sparqr.spark.design.level.LevelPass.Found;
import io.sparqr.spark.design.level.Levels;
import io.sparqr.spark.design.level.NumberLevels;
import io.sparqr.spark.internals.TableRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.attribute.Attribute;
import org.apache.spark.ml.attribute.AttributeGroup;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Builds a design from options and training data. */
final class DesignBuilder {

  private static final int LEVELS_SHOWN = 5;

  private final Dataset<Row> data;
  private final DataColumns there;
  private final DesignOptions options;
  private final Formula formula;
  private final List<Slot> slots = new ArrayList<>();
  private final boolean[] factor;

  DesignBuilder(Dataset<Row> data, DesignOptions options) {
    this.data = data;
    this.there = DataColumns.of(data);
    List<String> dot = dot(data.schema(), options);
    this.options = options.withDot(dot);
    formula = formula(options, dot);
    factor = new boolean[formula.variables().size()];
    for (int v = 0; v < factor.length; v++) {
      slots.add(slot(v));
      factor[v] = slots.get(v).factor();
    }
    checkColumns();
  }

  private static List<String> dot(StructType schema, DesignOptions options) {
    var others = new ArrayList<String>();
    for (Role role : Role.values()) {
      options.column(role).ifPresent(others::add);
    }
    others.addAll(options.clusters());
    return Arrays.stream(schema.fieldNames()).filter(c -> !others.contains(c)).toList();
  }

  /**
   * The formula given by the options.
   *
   * @param dot the columns for a dot
   */
  static Formula formula(DesignOptions options, List<String> dot) {
    Optional<String> text = options.formula();
    if (text.isEmpty()) {
      return Formula.of(options.columns(), options.intercept());
    }
    Formula formula = Formula.parse(text.get(), dot);
    return new Formula(
        formula.response(),
        formula.intercept() && options.intercept(),
        formula.variables(),
        formula.terms(),
        formula.absorbed(),
        formula.offsets(),
        formula.dropped());
  }

  private StructField field(String column) {
    return there.field(column);
  }

  private Slot slot(int v) {
    Variable variable = formula.variables().get(v);
    StructField field = field(variable.column());
    DataType type = field.dataType();
    boolean number = type instanceof NumericType;
    boolean asked =
        variable.function() == Function.FACTOR
            || variable.function() == Function.EFFECT
            || variable.function() == Function.IDENTITY
                && options.categorical().contains(variable.column());
    boolean text = type instanceof StringType || type instanceof BooleanType;
    if (asked || text && variable.function() == Function.IDENTITY) {
      LevelKind kind = LevelKind.of(type);
      if (kind == null) {
        throw wrongType(variable, type, "has no levels, as a factor needs them");
      }
      return new Slot(variable, kind, null);
    }
    if (number) {
      return new Slot(variable, null, null);
    }
    if (type.equals(SQLDataTypes.VectorType()) && variable.function() == Function.IDENTITY) {
      return new Slot(variable, null, parts(field));
    }
    throw wrongType(
        variable,
        type,
        LevelKind.of(type) == null
            ? "is neither a number nor a vector, a text or a truth value"
            : "is not a number; as a factor it is written factor(" + variable.name() + ")");
  }

  private static IllegalArgumentException wrongType(Variable v, DataType type, String what) {
    return new IllegalArgumentException(
        v.name() + ": column " + v.column() + " of type " + type.simpleString() + " " + what);
  }

  /** Names of a vector's entries: from its ML attributes, or else column name and index. */
  private List<String> parts(StructField field) {
    AttributeGroup group = AttributeGroup.fromStructField(field);
    int size = group.size();
    if (size < 0) {
      Row first =
          there
              .numbered(data)
              .select(there.column(field.name()).as("vector"))
              .where("vector is not null")
              .first();
      size = ((Vector) first.get(0)).size();
    }
    var names = new String[size];
    for (int k = 0; k < size; k++) {
      names[k] = field.name() + "_" + k;
    }
    if (group.attributes().isDefined()) {
      Attribute[] attributes = group.attributes().get();
      for (int k = 0; k < size; k++) {
        if (attributes[k].name().isDefined()) {
          names[k] = attributes[k].name().get();
        }
      }
    }
    return List.of(names);
  }

  private void checkColumns() {
    for (Term term : formula.terms()) {
      long vectors = term.variables().stream().filter(v -> slots.get(v).vector()).count();
      if (vectors > 1) {
        throw new IllegalArgumentException("an interaction of two vector columns");
      }
    }
    for (Map.Entry<String, String> e : options.references().entrySet()) {
      boolean known =
          slots.stream().anyMatch(s -> s.factor() && s.variable().column().equals(e.getKey()));
      if (!known) {
        throw new IllegalArgumentException(
            "a reference level of " + e.getKey() + ", which is not a factor of the design");
      }
    }
    for (String column : options.categorical()) {
      field(column);
    }
    options.column(Role.ID).ifPresent(this::field);
    for (String column : options.clusters()) {
      DataType type = field(column).dataType();
      if (LevelKind.of(type) == null) {
        throw wrongType(Variable.of(column), type, "has no values that name clusters");
      }
    }
    for (Variable offset : formula.offsets()) {
      requireNumber(offset);
    }
    if (formula.response() != null) {
      requireNumber(formula.response());
    } else {
      requireNumber(Variable.of(options.label()));
    }
    for (Role role : List.of(Role.WEIGHT, Role.OFFSET)) {
      options.column(role).ifPresent(column -> requireNumber(Variable.of(column)));
    }
  }

  private void requireNumber(Variable variable) {
    DataType type = field(variable.column()).dataType();
    boolean number = type instanceof NumericType || type instanceof BooleanType;
    if (!number || variable.function() == Function.FACTOR) {
      throw wrongType(variable, type, "is not a number");
    }
  }

  Coding build() {
    Coding draft = new Coding(options, formula, slots, new Factor[factor.length], none(), false);
    Factor[] factors = factors(draft);
    boolean intercept = formula.intercept() && formula.absorbed().isEmpty();
    Block[] blocks = blocks(formula, slots, factors);
    collectCells(new Coding(options, formula, slots, factors, none(), false), blocks);
    return new Coding(options, formula, slots, factors, blocks, intercept);
  }

  private static Block[] none() {
    return new Block[0];
  }

  private Factor[] factors(Coding draft) {
    int[] which =
        java.util.stream.IntStream.range(0, factor.length).filter(v -> factor[v]).toArray();
    var all = new Factor[factor.length];
    if (which.length == 0) {
      return all;
    }
    var texts = new boolean[which.length];
    for (int k = 0; k < which.length; k++) {
      texts[k] = slots.get(which[k]).kind() == LevelKind.TEXT;
    }
    Dataset<Row> selected = draft.selected(data, true);
    boolean skip = options.handleInvalid() == HandleInvalid.SKIP;
    List<Found> found =
        LevelPass.run(
            context(data),
            TableRows.of(selected),
            "levels of " + which.length + " factors",
            texts,
            (p, rows, sets) -> {
              var encoder = new RowEncoder(draft);
              var cells = new TableCells();
              while (rows.hasNext()) {
                cells.at(rows.next());
                if (!skip || !encoder.lacks(cells, 0, false)) {
                  encoder.levels(cells, which, sets);
                }
              }
            });
    for (int k = 0; k < which.length; k++) {
      all[which[k]] = factor(slots.get(which[k]), found.get(k));
    }
    return all;
  }

  private static JavaSparkContext context(Dataset<Row> data) {
    return JavaSparkContext.fromSparkContext(data.sparkSession().sparkContext());
  }

  private Factor factor(Slot slot, Found found) {
    LevelChunk chunk = found.levels();
    if (chunk == null) {
      chunk =
          slot.kind() == LevelKind.TEXT
              ? LevelChunk.ofTexts(List.of())
              : LevelChunk.ofKeys(new long[0]);
    }
    Levels levels = chunk.levels(slot.levels());
    String wanted = options.references().get(slot.variable().column());
    int reference = 0;
    if (wanted != null) {
      reference = named(levels, slot.variable().column(), wanted);
    }
    boolean missing = found.missing() && options.handleInvalid() == HandleInvalid.KEEP;
    return new Factor(levels, reference, missing);
  }

  private static int named(Levels levels, String column, String wanted) {
    int code;
    try {
      code = levels.named(wanted);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "reference level of " + column + ": \"" + wanted + "\" is not a level of its type", e);
    }
    if (code == Levels.NONE) {
      var some = new ArrayList<String>();
      for (int k = 0; k < Math.min(LEVELS_SHOWN, levels.count()); k++) {
        some.add(levels.name(k));
      }
      throw new IllegalArgumentException(
          "reference level of "
              + column
              + ": no row has \""
              + wanted
              + "\"; of "
              + levels.count()
              + " levels the first are "
              + String.join(", ", some));
    }
    return code;
  }

  /** The blocks of all terms; the combinations of the sparse ones are not collected yet. */
  static Block[] blocks(Formula formula, List<Slot> slots, Factor[] factors) {
    var factor = new boolean[factors.length];
    for (int v = 0; v < factor.length; v++) {
      factor[v] = slots.get(v).factor();
    }
    var blocks = new ArrayList<Block>();
    List<List<Integer>> contrasts = formula.contrasts(factor);
    for (int t = 0; t < formula.terms().size(); t++) {
      blocks.add(block(formula.terms().get(t), contrasts.get(t), slots, factors));
    }
    contrasts = formula.absorbedContrasts(factor);
    for (int t = 0; t < formula.absorbed().size(); t++) {
      blocks.add(block(formula.absorbed().get(t), contrasts.get(t), slots, factors).asAbsorbed());
    }
    return blocks.toArray(new Block[0]);
  }

  private static Block block(
      Term term, List<Integer> contrasts, List<Slot> slots, Factor[] factors) {
    int n = term.variables().size();
    var variables = new int[n];
    var contrast = new boolean[n];
    var widths = new int[n];
    for (int k = 0; k < n; k++) {
      int v = term.variables().get(k);
      Slot slot = slots.get(v);
      variables[k] = v;
      contrast[k] = contrasts.contains(v);
      widths[k] = slot.vector() ? slot.entries().size() : 1;
      if (slot.factor()) {
        widths[k] = Math.max(0, factors[v].count() - (contrast[k] ? 1 : 0));
      }
    }
    return new Block(variables, contrast, widths, 0, null, false, -1);
  }

  /** Collects the combinations that occur in rows, for interactions too large for all of them. */
  private void collectCells(Coding coded, Block[] blocks) {
    // Of absorbed effects all combinations are looked for: their levels are counted.
    List<Block> sparse =
        Arrays.stream(blocks)
            .filter(Block::sparse)
            .map(b -> b.absorbed() ? b.withAllLevels(coded.factors()) : b)
            .toList();
    if (sparse.isEmpty()) {
      return;
    }
    Dataset<Row> selected = coded.selected(data, true);
    boolean skip = options.handleInvalid() == HandleInvalid.SKIP;
    SharedCoding shared = SharedCoding.of(context(data), coded);
    List<Found> combinations =
        LevelPass.run(
            context(data),
            TableRows.of(selected),
            "combinations of " + sparse.size() + " interactions",
            new boolean[sparse.size()],
            (p, it, sets) -> {
              var encoder = new RowEncoder(shared.coding());
              var cells = new TableCells();
              while (it.hasNext()) {
                cells.at(it.next());
                if (!skip || !encoder.lacks(cells, 0, false)) {
                  encoder.combinations(cells, sparse, sets);
                }
              }
            });
    shared.destroy();
    int next = 0;
    for (int b = 0; b < blocks.length; b++) {
      if (blocks[b].sparse()) {
        LevelChunk cells = combinations.get(next++).levels();
        long[] keys = cells == null ? new long[0] : cells.keys();
        var found = new NumberLevels(LevelKind.INTEGER, keys);
        blocks[b] =
            blocks[b].absorbed()
                ? blocks[b].amongAllLevels(found, coded.factors())
                : blocks[b].with(found);
      }
    }
  }
}
