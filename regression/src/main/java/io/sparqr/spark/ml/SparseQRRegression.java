/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.design.Design;
import io.sparqr.spark.design.DesignOptions;
import io.sparqr.spark.report.ProgressListener;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.regression.Regressor;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWritable;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Linear regression by sparse QR: the exact minimizer over coefficients b and intercept c of
 *
 * <pre>1/(2 W) sum_i w_i (y_i - x_i'b - c)^2 + regParam/2 ||b||^2,   W = sum_i w_i,</pre>
 *
 * which is the objective in MLlib's documentation without standardization of features. It uses
 * ridge rows sqrt(W regParam) I for the features, but none for the intercept. MLlib's own {@code
 * LinearRegression} divides regParam by the standard deviation of the label first (as glmnet does):
 * its regParam r with {@code standardization=false} corresponds to r / sd(y) here.
 *
 * <p>The number of features is not limited to 4096, and sparse vectors stay sparse because no
 * column is centred; the intercept is a column of ones. Standard errors come from the R that gives
 * the coefficients, by the inverse of R'R on its pattern. They may cost as much as the
 * factorization, and take one more pass over the rows; {@code setComputeStandardErrors(false)}
 * omits them (a {@code CrossValidator} does not need them).
 *
 * <p>Rank-deficient designs (the dummy variable trap) are solved: columns that depend on others
 * have coefficient 0 and standard error NaN, and are listed in {@link
 * SparseQRRegressionSummary#deadColumns()}. As in R's lm, the later ones of dependent columns are
 * dropped, and the intercept is kept. {@code fit} throws the exceptions of {@link
 * io.sparqr.spark.GpuSparseQR}.
 *
 * <p>The only subclass exists for the name of its Python class; see {@link PythonEstimator}.
 */
public class SparseQRRegression
    extends Regressor<Vector, SparseQRRegression, SparseQRRegressionModel>
    implements SparseQRRegressionParams, DefaultParamsWritable {

  private static final long serialVersionUID = 1;

  private final String uid;
  private final RegressionParams own;

  /** Receives the data of a fit on the cluster, which otherwise are released. */
  private transient @Nullable Consumer<KeptFit> kept;

  private transient ProgressListener listener = ProgressListener.NONE;

  /** An estimator with a random uid. */
  public SparseQRRegression() {
    this("sparseQR_" + UUID.randomUUID().toString().substring(24));
  }

  /** An estimator with a given uid, for {@code copy} and {@code load}. */
  @SuppressWarnings("this-escape") // params want their owner
  public SparseQRRegression(String uid) {
    this(PendingUid.begin(uid), true);
  }

  // begun tells it from the one above; params want their owner (a warning of javac from 21 on)
  @SuppressWarnings({"UnusedVariable", "this-escape"})
  private SparseQRRegression(String uid, boolean begun) {
    this.uid = uid;
    PendingUid.end();
    own = new RegressionParams(this);
    own.setDefaults(this);
  }

  @Override
  public String uid() {
    return uid == null ? PendingUid.get() : uid;
  }

  @Override
  public RegressionParams regressionParams() {
    return own;
  }

  /** Weights of the instances, at least 0; default: all 1. */
  public SparseQRRegression setWeightCol(String column) {
    return with(own.weightCol, column);
  }

  /**
   * A column that identifies rows in errors, such as a customer number; default none. It is read
   * only after a row has been rejected.
   */
  public SparseQRRegression setIdCol(String column) {
    return with(own.idCol, column);
  }

  /** Whether there is an intercept; default true. */
  public SparseQRRegression setFitIntercept(boolean on) {
    return with(own.fitIntercept, on);
  }

  /** Ridge parameter, at least 0; default 0. See the class for its scaling. */
  public SparseQRRegression setRegParam(double value) {
    return with(own.regParam, value);
  }

  /** Column order: auto (default), colamd, amd, nd, natural or best. */
  public SparseQRRegression setOrdering(String name) {
    return with(own.ordering, name);
  }

  /**
   * How fronts are factored: auto (default), on CPUs by their Gram matrix where that takes a
   * fraction of the time, if what is measured against the rows is as good; or householder, by
   * reflectors.
   */
  public SparseQRRegression setMethod(String name) {
    return with(own.method, name);
  }

  /** Backend: auto (default), cpu or cuda; cuda fails without a device. */
  public SparseQRRegression setBackend(String name) {
    return with(own.backend, name);
  }

  /**
   * Threshold of dependent columns, see {@code GpuSparseQR.Builder}; negative: no detection;
   * default: 20 (m + n) eps times the largest norm of a column.
   */
  public SparseQRRegression setRankTolerance(double value) {
    return with(own.rankTolerance, value);
  }

  /**
   * Whether fit computes standard errors; default true. If false, column singletons are eliminated
   * before the factorization.
   */
  public SparseQRRegression setComputeStandardErrors(boolean on) {
    return with(own.computeStandardErrors, on);
  }

  /**
   * A formula in the syntax of R's {@code lm}, such as {@code log_wage ~ age + a:b + offset(z)},
   * with absorbed fixed effects behind a bar: {@link io.sparqr.spark.design.formula.Formula#parse}.
   * Strings and booleans are factors; numbers become factors only by {@link #setCategoricalCols} or
   * {@code factor(x)}; a dot stands for all columns without another role. The left-hand side, if
   * present, names the label. A formula replaces the features column; default: none.
   */
  public SparseQRRegression setFormula(String text) {
    return with(own.formula, text);
  }

  /**
   * Factors: columns of strings, booleans or numbers. Each level except the reference level becomes
   * one column of the design, without an encoder. Without a formula they follow the features
   * column, if there is one; default: none but the strings and booleans of a formula.
   */
  public SparseQRRegression setCategoricalCols(String... columns) {
    return with(own.categoricalCols, columns);
  }

  /**
   * Reference levels as {@code column=level}; default: the first level of each factor in ascending
   * order.
   */
  public SparseQRRegression setReferenceLevels(String... levels) {
    return with(own.referenceLevels, levels);
  }

  /**
   * Names of coefficients to keep if columns depend on each other, in order of priority. The
   * intercept precedes them, unless it is to be dropped. By default the later columns are dropped,
   * as in lm.
   */
  public SparseQRRegression setKeepTerms(String... terms) {
    return with(own.keepTerms, terms);
  }

  /** Names of coefficients to drop first if columns depend on each other; default none. */
  public SparseQRRegression setDropTerms(String... terms) {
    return with(own.dropTerms, terms);
  }

  /**
   * Whether a fit records the time and place of every task, for {@link
   * io.sparqr.spark.report.SolveReport#toHtml()} of its summary's report; default false.
   */
  public SparseQRRegression setProfile(boolean on) {
    return with(own.profile, on);
  }

  /** The values of {@link #setVcov}. */
  public static List<String> standardErrorNames() {
    return VcovNames.names();
  }

  /**
   * The assumption behind the standard errors: iid (equal variances, as in lm), HC0 to HC3 (any
   * variances; MacKinnon and White 1985), or cluster; default: cluster if {@link #setClusterCols}
   * names columns, otherwise iid. All except iid are limited to 10,000 coefficients, not counting
   * absorbed effects. They cost two triangular solves per coefficient, in batches, and a pass over
   * the rows per batch.
   */
  public SparseQRRegression setVcov(String name) {
    return with(own.vcov, name);
  }

  /**
   * One or two columns of clusters, within which the errors of rows may be correlated (Liang and
   * Zeger 1986; two ways: Cameron, Gelbach and Miller 2011); default none.
   */
  public SparseQRRegression setClusterCols(String... columns) {
    return with(own.clusterCols, columns);
  }

  /**
   * The small-sample correction of clustered errors: fixest (default, here as in {@code
   * sparqr.feols} and on the command line; its ssc: the factor of the smallest number of clusters
   * for all ways, t with G-1 degrees of freedom, and k without absorbed effects nested in
   * clusters), sandwich (G/(G-1) (n-1)/(n-k) and t with n-k, as R's vcovCL) or none.
   */
  public SparseQRRegression setClusterCorrection(String name) {
    return with(own.clusterCorrection, name);
  }

  /** A column that is subtracted from the label and added to predictions; default none. */
  public SparseQRRegression setOffsetCol(String column) {
    return with(own.offsetCol, column);
  }

  /**
   * The treatment of rows with missing values: error (default), skip, keep; see {@link
   * io.sparqr.spark.design.HandleInvalid}.
   */
  public SparseQRRegression setHandleInvalid(String how) {
    return with(own.handleInvalid, how);
  }

  /** The listener for a fit's progress. Not a Param: it is neither saved nor copied. */
  public SparseQRRegression setListener(ProgressListener hearing) {
    listener = Objects.requireNonNull(hearing, "listener");
    return this;
  }

  ProgressListener listener() {
    return listener == null ? ProgressListener.NONE : listener;
  }

  private <T> SparseQRRegression with(Param<T> param, T value) {
    set(param, value);
    return this;
  }

  /**
   * Checks the columns.
   *
   * @throws IllegalArgumentException if a column is missing or of a wrong type
   */
  @Override
  public StructType transformSchema(StructType schema) {
    if (hasDesign()) {
      return withPrediction(schema);
    }
    String weight = getWeightCol();
    if (!weight.isEmpty() && !(schema.apply(weight).dataType() instanceof NumericType)) {
      throw new IllegalArgumentException(
          "weight column " + weight + " is not a number but " + schema.apply(weight).dataType());
    }
    if (!getIdCol().isEmpty()) {
      schema.apply(getIdCol());
    }
    StructType vectors = FeatureColumn.vectors(schema, getFeaturesCol());
    return FeatureColumn.asIn(schema, super.transformSchema(vectors), getFeaturesCol());
  }

  private StructType withPrediction(StructType schema) {
    String column = getPredictionCol();
    if (schema.getFieldIndex(column).isDefined()) {
      throw new IllegalArgumentException("a column " + column + " exists already");
    }
    return column.isEmpty() ? schema : schema.add(column, DataTypes.DoubleType, true);
  }

  /** Whether this dataset is read through a design rather than as vectors. */
  private boolean hasDesign() {
    return RegressionParams.hasDesign(this);
  }

  /** The options of the design for a Dataset of this schema. */
  private DesignOptions designOptions(StructType schema) {
    boolean features = isSet(featuresCol()) || schema.getFieldIndex(getFeaturesCol()).isDefined();
    return RegressionParams.design(this, features ? getFeaturesCol() : "", getLabelCol());
  }

  @Override
  public SparseQRRegressionModel fit(Dataset<?> data) {
    if (!hasDesign()) {
      return super.fit(data);
    }
    transformSchema(data.schema());
    return copyValues(train(data).setParent(this), ParamMap.empty());
  }

  /**
   * Fits and keeps the factorization on the executors until the result is closed: for covariances,
   * contrasts, tests, comparisons, intervals and leverages.
   *
   * @throws IllegalArgumentException with a ridge: a penalized estimate has no such statistics
   */
  public KeptRegression fitKept(Dataset<?> data) {
    if (getRegParam() > 0) {
      throw new IllegalArgumentException(
          "fitKept with regParam > 0: a penalized estimate is biased, and has no such statistics");
    }
    SparseQRRegression once = copy(ParamMap.empty()).setListener(listener());
    var held = new AtomicReference<KeptFit>();
    once.kept = held::set;
    return new KeptRegression(once.fit(data), Objects.requireNonNull(held.get()));
  }

  @Override
  public SparseQRRegressionModel train(Dataset<?> data) {
    Dataset<Row> rows = FeatureColumn.vectors(data, getFeaturesCol());
    Design design = hasDesign() ? Design.of(rows, designOptions(rows.schema())) : null;
    var source = new Training(rows, copy(ParamMap.empty()), listener(), design);
    DesignFit fit = DesignFit.of(source, kept);
    boolean ones = design == null ? getFitIntercept() : design.hasIntercept();
    var model = model(uid, fit.coefficients(ones), fit.intercept());
    copyValues(model, ParamMap.empty());
    model.withDesign(design);
    return model.withSummary(source, fit);
  }

  /** A model of this estimator, before its params are set. */
  protected SparseQRRegressionModel model(String uid, Vector coefficients, double intercept) {
    return new SparseQRRegressionModel(uid, coefficients, intercept);
  }

  @Override
  public SparseQRRegression copy(ParamMap extra) {
    return this.<SparseQRRegression>defaultCopy(extra);
  }

  /** Writes under the name of {@link PythonEstimator}. */
  @Override
  public MLWriter write() {
    return new DefaultParamsWriter(PythonEstimator.of(this));
  }

  /**
   * Reads the output of {@code save}; {@link PythonEstimator} determines the class of the result.
   */
  public static MLReader<SparseQRRegression> read() {
    return new DefaultParamsReader<>();
  }

  /** Loads from a path. */
  public static SparseQRRegression load(String path) {
    return read().load(path);
  }
}
