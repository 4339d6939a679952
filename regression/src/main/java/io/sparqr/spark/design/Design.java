/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.DesignOptions.Role;
import io.sparqr.spark.design.level.AbsorbedFactor;
import io.sparqr.spark.internals.TableRows;
import java.io.Serializable;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.RandomAccess;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a design matrix, and the conversion of a Dataset's rows: the terms' columns in R's
 * order, then a column of ones or, in its place, the dummies of the absorbed effects. A row has one
 * entry for each variable, except for zeros and reference levels; looking up a level takes O(1).
 * Immutable.
 */
public final class Design implements Serializable {

  private static final long serialVersionUID = 1;

  /** The name of the column of ones, as in R. */
  public static final String INTERCEPT = "(Intercept)";

  /** With more coefficients, equal names are looked for only when a name is read. */
  private static final int NAMED = 100_000;

  /** Equal names that a warning lists, at most. */
  private static final int SHOWN = 5;

  private final Coding coding;
  private transient volatile @Nullable Map<Integer, String> distinct;

  Design(Coding coding) {
    this.coding = coding;
  }

  /**
   * The design of training data: takes one pass to collect the levels of factors, if there are any,
   * and another if an interaction of factors has more than 65,536 combinations.
   *
   * @throws IllegalArgumentException if formula, columns or reference levels do not fit the data
   */
  public static Design of(Dataset<Row> data, DesignOptions options) {
    return new Design(new DesignBuilder(data, options).build());
  }

  /** This design with another treatment of invalid rows. */
  public Design with(HandleInvalid how) {
    return how == coding.options().handleInvalid()
        ? this
        : new Design(coding.with(coding.options().with(how)));
  }

  /**
   * Saves the design beside a model as Parquet: {@code path/design} and {@code path/levels}.
   *
   * @throws org.apache.spark.sql.AnalysisException if these exist already
   */
  public void save(SparkSession spark, String path) {
    DesignFiles.write(coding, spark, path);
  }

  /** Loads the result of {@code save}; empty if there is none. */
  public static Optional<Design> load(SparkSession spark, String path) {
    return DesignFiles.read(spark, path).map(Design::new);
  }

  /**
   * Checks that the columns needed for a prediction exist.
   *
   * @throws IllegalArgumentException if one is missing
   */
  public void requireColumns(StructType schema) {
    var there = new DataColumns(schema);
    for (Slot slot : coding.slots()) {
      there.field(slot.variable().column());
    }
    coding.formula().offsets().forEach(v -> there.field(v.column()));
    coding.options().column(Role.OFFSET).ifPresent(there::field);
  }

  /** Number of columns of the design, the intercept included. */
  public int columns() {
    return coding.columns();
  }

  /** Whether the last column is a column of ones. */
  public boolean hasIntercept() {
    return coding.hasIntercept();
  }

  /** Whether the design fits a constant, by an intercept or by absorbed effects. */
  public boolean hasConstant() {
    return coding.hasIntercept() || !coding.formula().absorbed().isEmpty();
  }

  /** Number of columns with reported coefficients, without the intercept; they come first. */
  public int reported() {
    for (Block b : coding.blocks()) {
      if (b.absorbed()) {
        return b.first();
      }
    }
    return coding.hasIntercept() ? coding.columns() - 1 : coding.columns();
  }

  /**
   * Columns of reference levels that the caller has named, in terms that have a column for every
   * level: the first to go if columns depend on each other. O(columns of these terms).
   */
  public int[] namedReferences() {
    var columns = IntStream.builder();
    for (Block b : coding.blocks()) {
      if (!b.absorbed()) {
        b.addReferences(this::isNamedReference, columns);
      }
    }
    return columns.build().toArray();
  }

  private boolean isNamedReference(int v) {
    return coding.slots().get(v).factor()
        && coding.options().references().containsKey(coding.slots().get(v).variable().column());
  }

  /** The absorbed factors, in order. */
  public List<AbsorbedFactor> absorbedFactors() {
    var factors = new ArrayList<AbsorbedFactor>();
    int key = coding.options().clusters().size();
    for (Block b : coding.blocks()) {
      if (b.absorbed()) {
        int own = b.hidesLevels() ? key++ : -1;
        factors.add(
            new AbsorbedFactor(
                b.first(),
                b.width(),
                b.variableName(coding.slots()),
                b.levels(coding.factors()),
                own));
      }
    }
    return factors;
  }

  /** Whether a column is a dummy of an absorbed factor. */
  public boolean absorbed(int column) {
    return column >= reported() && column != interceptColumn();
  }

  /**
   * The name of a column, as in R, such as {@code age}, {@code firmB}, {@code a:b}. Equal names of
   * reported columns are made distinct, in O(reported columns) at the first call.
   */
  public String name(int column) {
    return column < reported() || column == interceptColumn()
        ? distinctNames().getOrDefault(column, plainName(column))
        : plainName(column);
  }

  private Map<Integer, String> distinctNames() {
    Map<Integer, String> found = distinct;
    if (found == null) {
      found = DistinctNames.of(reported(), this::plainName);
      distinct = found;
    }
    return found;
  }

  /** What a fit should tell of this design. */
  public List<String> warnings() {
    var warnings = new ArrayList<String>();
    for (String response : coding.formula().dropped()) {
      warnings.add("the response " + response + " is on the right-hand side, too: dropped there");
    }
    if (reported() <= NAMED) {
      distinctNames().entrySet().stream()
          .limit(SHOWN)
          .map(
              e ->
                  "two coefficients are named "
                      + plainName(e.getKey())
                      + ": the later is called "
                      + e.getValue())
          .forEach(warnings::add);
    }
    return warnings;
  }

  private String plainName(int column) {
    if (column == interceptColumn()) {
      return INTERCEPT;
    }
    Block[] blocks = coding.blocks();
    int low = 0;
    int high = blocks.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (blocks[middle].first() <= column) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    int checked = java.util.Objects.checkIndex(column, columns());
    return blocks[low].name(checked, coding.slots(), coding.factors());
  }

  /** All names, computed on access. */
  public List<String> names() {
    final class View extends AbstractList<String> implements RandomAccess {
      @Override
      public String get(int column) {
        return name(column);
      }

      @Override
      public int size() {
        return coding.columns();
      }
    }
    return new View();
  }

  /** The response as the formula writes it, or the label column. */
  public String response() {
    return coding.response();
  }

  private int interceptColumn() {
    return coding.interceptColumn();
  }

  private static SharedCoding shared(Coding coding, Dataset<Row> data) {
    return SharedCoding.of(
        JavaSparkContext.fromSparkContext(data.sparkSession().sparkContext()), coding);
  }

  /** Names of the variables, in the syntax of a formula. */
  public List<String> columnNames() {
    return coding.slots().stream().map(s -> s.variable().name()).toList();
  }

  /**
   * A column "residuals", label less prediction.
   *
   * @param data with labels and predictions
   * @param prediction the column of the predictions
   */
  public Dataset<Row> residuals(Dataset<Row> data, String prediction) {
    var there = DataColumns.of(data);
    Column label = Selection.label(there, coding.formula(), coding.options());
    return there.numbered(data).select(label.minus(there.column(prediction)).as("residuals"));
  }

  /**
   * The rows of the design, with label less offset and with weight, and the keys of their clusters.
   *
   * @throws io.sparqr.error.NonFiniteValueException thrown by an action, naming row and column
   * @throws io.sparqr.error.MatrixFormatException thrown by an action, if a level is missing or
   *     unknown, or the key of a cluster is missing
   */
  public DesignRows rows(Dataset<Row> data) {
    Dataset<Row> selected = coding.selected(data, true);
    SharedCoding shared = shared(coding, data);
    return new DesignRows(
        TableRows.of(selected).map((p, it) -> new EncodedBatches(p, it, shared.coding())), shared);
  }

  /**
   * The data with a column of predictions: offset and x'b. Missing values and unknown levels are
   * treated as the options specify.
   *
   * @param x one coefficient per column
   * @param output name of the new column
   */
  public Dataset<Row> predicted(Dataset<Row> data, double[] x, String output) {
    return withPredictions(data, x, output, coding.options().handleInvalid() == HandleInvalid.SKIP);
  }

  /** As above, with NaN for missing values and unknown levels, independently of the options. */
  public Dataset<Row> predictedAll(Dataset<Row> data, double[] x, String output) {
    return with(HandleInvalid.SKIP).withPredictions(data, x, output, false);
  }

  /**
   * The data with a column of the standard errors of their predictions, sqrt(a'V a) for the row a
   * of the design; NaN for missing values and unknown levels.
   *
   * @param covariance V, k x k, for all columns; sent with the tasks
   * @param output name of the new column
   */
  public Dataset<Row> predictionErrors(Dataset<Row> data, double[][] covariance, String output) {
    Design design = with(HandleInvalid.SKIP).known(data);
    SharedCoding shared = shared(design.coding, data);
    UDF1<Row, Double> error =
        row -> new RowEncoder(shared.coding()).predictionError(new RowCells(row), covariance);
    return design.withColumn(data, error, output, false);
  }

  private Dataset<Row> withPredictions(
      Dataset<Row> data, double[] x, String output, boolean without) {
    Design design = known(data);
    SharedCoding shared = shared(design.coding, data);
    Broadcast<double[]> coefficients =
        JavaSparkContext.fromSparkContext(data.sparkSession().sparkContext()).broadcast(x);
    UDF1<Row, Double> predict =
        row -> new RowEncoder(shared.coding()).predict(new RowCells(row), coefficients.value());
    return design.withColumn(data, predict, output, without);
  }

  /** The data with a column made of each row's variables, optionally without rows of NaN. */
  private Dataset<Row> withColumn(
      Dataset<Row> data, UDF1<Row, Double> make, String output, boolean without) {
    var there = DataColumns.of(data);
    Column[] columns =
        Selection.columns(there, coding.formula(), coding.options(), coding.slots(), false)
            .toArray(new Column[0]);
    Column value = functions.udf(make, DataTypes.DoubleType).apply(functions.struct(columns));
    String made = "sparqr_prediction";
    Dataset<Row> all = there.numbered(data).withColumn(made, value);
    if (without) {
      all = all.where(functions.not(functions.isnan(functions.col(made))));
    }
    List<Column> named = there.all();
    named.add(functions.col(made).as(output));
    return all.select(named.toArray(new Column[0]));
  }

  /** The design for data that may lack the id column. */
  private Design known(Dataset<Row> data) {
    boolean lacks =
        coding.options().column(Role.ID).filter(id -> !DataColumns.of(data).has(id)).isPresent();
    return lacks ? new Design(coding.with(coding.options().withoutId())) : this;
  }

  @Override
  public String toString() {
    return "Design of "
        + coding.columns()
        + " columns: "
        + (coding.columns() > 0 ? name(0) : "")
        + (coding.columns() > 1 ? ", ... " + name(coding.columns() - 1) : "");
  }
}
