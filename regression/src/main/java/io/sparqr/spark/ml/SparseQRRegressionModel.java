/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.design.Design;
import io.sparqr.spark.design.HandleInvalid;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.regression.RegressionModel;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * A fitted linear model x'b + c. After {@code fit} it has a {@link #summary()}; a loaded model has
 * none. Evaluate it on test data with Spark's {@code RegressionEvaluator}.
 *
 * <p>The only subclass exists for the name of its Python class; see {@link PythonModel}.
 */
public class SparseQRRegressionModel extends RegressionModel<Vector, SparseQRRegressionModel>
    implements SparseQRRegressionParams, MLWritable {

  private static final long serialVersionUID = 1;

  private final String uid;
  private final RegressionParams own;
  private final Param<String> output;
  private final DoubleParam level;
  private final Vector coefficients;
  private final double intercept;
  // It refers to a Dataset, and must not be sent to the executors that predict.
  private transient @Nullable SparseQRRegressionSummary summary;
  // Executors do not need it: predictions through a design do not use this object.
  private transient @Nullable Design design;

  /** An empty model, for service loaders that only need the name of a class. */
  public SparseQRRegressionModel() {
    this("", Vectors.zeros(0), 0);
  }

  /** A model without params or summary. */
  @SuppressWarnings("this-escape") // params want their owner
  protected SparseQRRegressionModel(String uid, Vector coefficients, double intercept) {
    this(PendingUid.begin(uid), coefficients, intercept, true);
  }

  // begun tells it from the one above; params want their owner (a warning of javac from 21 on)
  @SuppressWarnings({"UnusedVariable", "this-escape"})
  private SparseQRRegressionModel(
      String uid, Vector coefficients, double intercept, boolean begun) {
    this.uid = uid;
    PendingUid.end();
    this.coefficients = coefficients;
    this.intercept = intercept;
    own = new RegressionParams(this);
    own.setDefaults(this);
    output = ModelOutput.param(uid);
    setDefault(output, ModelOutput.PREDICTION);
    level = ModelOutput.level(uid);
    setDefault(level, 0.95);
  }

  @Override
  public String uid() {
    return uid == null ? PendingUid.get() : uid;
  }

  @Override
  public RegressionParams regressionParams() {
    return own;
  }

  /** b, one entry per feature; 0 for dependent columns. */
  public Vector coefficients() {
    return coefficients;
  }

  /** c; 0 without an intercept. */
  public double intercept() {
    return intercept;
  }

  @Override
  public int numFeatures() {
    return coefficients.size();
  }

  /** x'b + c. */
  @Override
  public double predict(Vector features) {
    return features.dot(coefficients) + intercept;
  }

  /**
   * Names of the coefficients; the intercept, if any, comes last.
   *
   * @throws IllegalStateException if the model was loaded and has neither a formula nor factors
   */
  public List<String> coefficientNames() {
    return design != null ? design.names() : summary().coefficientNames();
  }

  /** Whether there is a {@link #summary()}. */
  public boolean hasSummary() {
    return summary != null;
  }

  /**
   * The results of the fit on its training data.
   *
   * @throws IllegalStateException if the model was loaded
   */
  public SparseQRRegressionSummary summary() {
    if (summary == null) {
      throw new IllegalStateException("no training summary: this model was not made by fit");
    }
    return summary;
  }

  /** This model with the summary of its fit. */
  SparseQRRegressionModel withSummary(Training source, DesignFit fit) {
    String named = getPredictionCol();
    String column = named.isEmpty() ? "prediction_" + uid() : named;
    summary =
        new SparseQRRegressionSummary(
            source, fit, getFeaturesCol(), column, data -> predicted(data, column));
    return this;
  }

  private Dataset<Row> predicted(Dataset<Row> data, String column) {
    SparseQRRegressionModel named = copy(ParamMap.empty()).setOutput(ModelOutput.PREDICTION);
    named.setPredictionCol(column);
    return named.transform(data);
  }

  SparseQRRegressionModel withDesign(@Nullable Design made) {
    design = made;
    return this;
  }

  /**
   * The names of coefficients and the encoding of a Dataset's rows, unless it is the features
   * column alone.
   */
  @Nullable Design design() {
    return design;
  }

  /** The coefficients, then the intercept if the design has one. */
  private double[] columns() {
    double[] x = coefficients.toArray();
    if (Objects.requireNonNull(design).hasIntercept()) {
      x = java.util.Arrays.copyOf(x, x.length + 1);
      x[x.length - 1] = intercept;
    }
    return x;
  }

  /** The output of {@link #transform}; see {@link #setOutput}. */
  public Param<String> output() {
    return output;
  }

  /** Value of {@link #output()}. */
  public String getOutput() {
    return getOrDefault(output);
  }

  /**
   * The output of {@link #transform}: "prediction" (default), or a table describing the model, for
   * callers restricted to {@code transform}, as over Spark Connect. In the latter case the data are
   * not read, although "training" and "residuals" read those of the fit. "table", "dependencies",
   * "effects", "training", "residuals" are the data frames of {@link SparseQRRegressionSummary}.
   * "all" is {@link #transformAll}, "allWithErrors" {@link #transformWithErrors} with the column
   * {@code predictionCol + "StandardError"}. "coefficients", "errors", "inference", "fit",
   * "metrics", "text", "page" are values by name, in {@link io.sparqr.spark.python.Parcels}.
   */
  public SparseQRRegressionModel setOutput(String what) {
    set(output, what);
    return this;
  }

  /** Confidence level of the critical value in the output "inference"; default 0.95. */
  public DoubleParam level() {
    return level;
  }

  /** Value of {@link #level()}. */
  public double getLevel() {
    return (Double) getOrDefault(level);
  }

  /** Sets {@link #level()}. */
  public SparseQRRegressionModel setLevel(double value) {
    set(level, value);
    return this;
  }

  /**
   * Adds the prediction column: from the features column, or from the columns named by the formula
   * or the factors, offset included. With another {@link #output()}, returns the table of that name
   * instead.
   *
   * @throws IllegalStateException for a table of the summary if there is no summary
   */
  @Override
  public Dataset<Row> transform(Dataset<?> data) {
    if (getOutput().equals(ModelOutput.ALL)) {
      return transformAll(data);
    }
    if (getOutput().equals(ModelOutput.ALL_WITH_ERRORS)) {
      return transformWithErrors(data, getPredictionCol() + ModelOutput.ERROR);
    }
    if (!getOutput().equals(ModelOutput.PREDICTION)) {
      return ModelOutput.of(this, data.sparkSession());
    }
    Design encoding = design;
    if (encoding == null) {
      return FeatureColumn.through(data, getFeaturesCol(), super::transform);
    }
    transformSchema(data.schema());
    String column = getPredictionCol();
    return column.isEmpty()
        ? data.toDF()
        : FeatureColumn.through(
            data,
            getFeaturesCol(),
            rows ->
                encoding
                    .with(HandleInvalid.of(getHandleInvalid()))
                    .predicted(rows, columns(), column));
  }

  /**
   * Like {@link #transform}, but rows without a prediction get NaN instead of an error or being
   * left out: those with a missing value or with a level that the fit has not seen.
   */
  public Dataset<Row> transformAll(Dataset<?> data) {
    Design encoding = design;
    if (encoding == null) {
      return FeatureColumn.through(data, getFeaturesCol(), super::transform);
    }
    transformSchema(data.schema());
    return FeatureColumn.through(
        data, getFeaturesCol(), rows -> encoding.predictedAll(rows, columns(), getPredictionCol()));
  }

  /**
   * As {@link #transformAll}, with a further column: the standard error of the mean at each row,
   * sqrt(a'V a) with V the covariance of the coefficients under the errors of the fit.
   *
   * @param error name of the further column
   * @throws IllegalStateException if the model has neither a formula nor factors, was loaded, or
   *     has no covariance: absorbed effects, more than 64 coefficients, no standard errors
   */
  public Dataset<Row> transformWithErrors(Dataset<?> data, String error) {
    Design encoding = design;
    if (encoding == null) {
      throw new IllegalStateException("errors of predictions take a formula or factors");
    }
    double[][] covariance = summary().predictionCovariance();
    return FeatureColumn.through(
        transformAll(data),
        getFeaturesCol(),
        rows -> encoding.predictionErrors(rows, covariance, error));
  }

  @Override
  public StructType transformSchema(StructType schema) {
    if (design == null) {
      StructType vectors = FeatureColumn.vectors(schema, getFeaturesCol());
      return FeatureColumn.asIn(schema, super.transformSchema(vectors), getFeaturesCol());
    }
    design.requireColumns(schema);
    String column = getPredictionCol();
    if (schema.getFieldIndex(column).isDefined()) {
      throw new IllegalArgumentException("a column " + column + " exists already");
    }
    return column.isEmpty() ? schema : schema.add(column, DataTypes.DoubleType, true);
  }

  /** A copy without params and summary, of the same class. */
  protected SparseQRRegressionModel bare() {
    return new SparseQRRegressionModel(uid, coefficients, intercept);
  }

  @Override
  public SparseQRRegressionModel copy(ParamMap extra) {
    var other = copyValues(bare(), extra);
    other.setParent(parent());
    other.withDesign(design).summary = summary;
    return other;
  }

  @Override
  public MLWriter write() {
    return new Writer(this);
  }

  /** Shortcut for {@code write().save(path)}. */
  @Override
  public void save(String path) throws IOException {
    write().save(path);
  }

  /** Reads the output of {@code save}; {@link PythonModel} determines the class of the result. */
  public static MLReader<SparseQRRegressionModel> read() {
    return new Reader();
  }

  /** Loads from a path. */
  public static SparseQRRegressionModel load(String path) {
    return read().load(path);
  }

  /** Size in bytes, which Spark 4.1's own models also report to a Spark Connect server. */
  public long estimatedSize() {
    long columns = coefficients.size() + 1L;
    return 1024 + Double.BYTES * columns * (summary == null ? 1 : 3);
  }

  @Override
  public String toString() {
    return "SparseQRRegressionModel: uid=" + uid() + ", numFeatures=" + numFeatures();
  }

  /** Metadata as in all of Spark ML, and one Parquet row (intercept, coefficients) under data. */
  private static final class Writer extends MLWriter {
    private final SparseQRRegressionModel model;

    Writer(SparseQRRegressionModel model) {
      this.model = model;
    }

    /**
     * Writes to the driver's local disk, without Spark: a Spark Connect 4.1 server immediately does
     * this with every model it holds. Spark 4.0 has no such method.
     */
    @SuppressWarnings("UnusedMethod") // Spark 4.1 calls it
    public void saveToLocal(String path) throws IOException {
      LocalModel.write(model, Path.of(path));
    }

    @Override
    public void saveImpl(String path) {
      DefaultParamsWriter.saveMetadata(PythonModel.of(model), path, sparkSession());
      StructType schema =
          new StructType()
              .add("intercept", DataTypes.DoubleType, false)
              .add("coefficients", SQLDataTypes.VectorType(), false);
      Row row = RowFactory.create(model.intercept, model.coefficients);
      sparkSession()
          .createDataFrame(List.of(row), schema)
          .repartition(1)
          .write()
          .parquet(path + "/data");
      if (model.design != null) {
        model.design.save(sparkSession(), path);
      }
    }
  }

  private static final class Reader extends MLReader<SparseQRRegressionModel> {
    /** Also reads the output of {@code saveToLocal}, as Spark 4.1 has it loaded. */
    @Override
    public SparseQRRegressionModel load(String path) {
      if (LocalModel.isIn(path)) {
        return LocalModel.read(Path.of(path));
      }
      var metadata = DefaultParamsReader.loadMetadata(path, sparkSession(), "");
      PythonModel.requireModel(metadata.className(), path);
      Row row =
          sparkSession().read().parquet(path + "/data").select("intercept", "coefficients").first();
      var model = PythonModel.model(metadata.uid(), row.getAs(1), row.getDouble(0));
      metadata.getAndSetParams(model, scala.Option.empty());
      return model.withDesign(Design.load(sparkSession(), path).orElse(null));
    }
  }
}
