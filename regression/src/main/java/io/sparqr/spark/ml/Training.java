/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static java.util.Objects.requireNonNull;

import io.sparqr.error.SparseQrException;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.design.Design;
import io.sparqr.spark.design.DesignRows;
import io.sparqr.spark.design.LeftOut;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RefusedRow;
import io.sparqr.spark.rows.RowSource;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.attribute.Attribute;
import org.apache.spark.ml.attribute.AttributeGroup;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;

/**
 * Training data and their conversion to rows of [X 1], through a design or directly from vectors.
 *
 * @param data as given by the caller
 * @param params of the estimator or of its model
 * @param listener of the fit's progress
 * @param design unless it is the features column alone
 */
record Training(
    Dataset<Row> data,
    SparseQRRegressionParams params,
    ProgressListener listener,
    @Nullable Design design) {

  /** Whether the last column is a column of ones. */
  boolean ones() {
    return design == null ? params.getFitIntercept() : design.hasIntercept();
  }

  /** Whether the mean of the label is fitted, so that r2 refers to centred labels. */
  boolean constant() {
    return design == null ? params.getFitIntercept() : design.hasConstant();
  }

  /**
   * Number of regressors, which are the first of the columns: no intercept, no absorbed effects.
   */
  int regressors(int columns) {
    return design != null ? design.reported() : columns - (ones() ? 1 : 0);
  }

  /**
   * The rows.
   *
   * @param keep whether they will be read several times
   */
  TrainingRows rows(boolean keep) {
    if (design != null) {
      DesignRows encoded = design.rows(data);
      return new Held(
          keep ? encoded.keep().rows() : encoded.rows(),
          encoded::leftOut,
          encoded::keys,
          encoded::close);
    }
    JavaRDD<SparseRow> vectors =
        RowSource.of(
                data,
                RowSource.columns(
                    params.getFeaturesCol(), params.getWeightCol(), params.getLabelCol()))
            .rows();
    JavaRDD<SparseRow> rows = params.getFitIntercept() ? vectors.map(Training::withOne) : vectors;
    if (!keep || !data.storageLevel().equals(StorageLevel.NONE())) {
      return new Held(rows, () -> LeftOut.NONE, Training::noKey, () -> {});
    }
    rows.persist(StorageLevel.MEMORY_AND_DISK());
    return new Held(rows, () -> LeftOut.NONE, Training::noKey, () -> rows.unpersist(false));
  }

  private static JavaRDD<String> noKey(int k) {
    throw new IllegalStateException("rows of vectors have no key " + k);
  }

  private record Held(
      JavaRDD<SparseRow> rdd,
      Supplier<LeftOut> left,
      IntFunction<JavaRDD<String>> key,
      Runnable release)
      implements TrainingRows {
    @Override
    public LeftOut leftOut() {
      return left.get();
    }

    @Override
    public JavaRDD<String> keys(int k) {
      return key.apply(k);
    }

    @Override
    public void close() {
      release.run();
    }
  }

  /** The row with a 1 appended in a further column. */
  private static SparseRow withOne(SparseRow r) {
    int count = r.indices().length;
    int[] index = Arrays.copyOf(r.indices(), count + 1);
    double[] value = Arrays.copyOf(r.values(), count + 1);
    index[count] = r.columns();
    value[count] = 1;
    return new SparseRow(index, value, r.labels(), r.weight(), r.columns() + 1);
  }

  /**
   * The error of a rejected row with a better description of its place; a design already names row
   * and column.
   */
  RuntimeException refused(SparseQrException e) {
    return design != null
        ? e
        : RefusedRow.of(
            e,
            data,
            params.getFeaturesCol(),
            params.getWeightCol(),
            params.getLabelCol(),
            params.getIdCol());
  }

  /**
   * Columns to keep if possible: the intercept first, which is the last column, then the user's.
   */
  int[] keep() {
    int[] wanted = columns(params.getKeepTerms());
    boolean first = ones() && !Arrays.asList(params.getDropTerms()).contains(Design.INTERCEPT);
    return IntStream.concat(first ? IntStream.of(-1) : IntStream.empty(), Arrays.stream(wanted))
        .distinct()
        .toArray();
  }

  /**
   * Columns to drop first: the user's, and beside absorbed effects those of reference levels that
   * the user has named and does not want to keep. Without effects the later go, as in lm.
   */
  int[] drop() {
    int[] wanted = columns(params.getDropTerms());
    if (absorbedFrom() < 0) {
      return wanted;
    }
    int[] kept = columns(params.getKeepTerms());
    return IntStream.concat(
            Arrays.stream(wanted),
            Arrays.stream(requireNonNull(design).namedReferences())
                .filter(j -> Arrays.stream(kept).noneMatch(k -> k == j)))
        .distinct()
        .toArray();
  }

  /** The first absorbed column, from which on all are kept before any regressor; -1: none. */
  int absorbedFrom() {
    return design == null || design.absorbedFactors().isEmpty() ? -1 : design.reported();
  }

  /** Columns of named terms; the intercept is -1, the last column. */
  private int[] columns(String[] terms) {
    return Arrays.stream(terms).mapToInt(this::column).toArray();
  }

  private int column(String term) {
    if (ones() && term.equals(Design.INTERCEPT)) {
      return -1;
    }
    int column = design == null ? entry(term) : design.names().indexOf(term);
    if (column < 0) {
      throw new IllegalArgumentException(
          "no column \"" + term + "\" among the coefficients, to keep or to drop");
    }
    return column;
  }

  /** A feature, by the name of its attribute or by vector name and index. */
  private int entry(String term) {
    String features = params.getFeaturesCol();
    var group = AttributeGroup.fromStructField(data.schema().apply(features));
    if (group.hasAttr(term)) {
      return group.indexOf(term);
    }
    String index = term.startsWith(features + "_") ? term.substring(features.length() + 1) : "";
    return index.matches("[0-9]{1,9}") ? Integer.parseInt(index) : -1;
  }

  /** A column "residuals" of data with labels and predictions. */
  Dataset<Row> residuals(Dataset<Row> data, String prediction) {
    return design != null
        ? design.residuals(data, prediction)
        : data.select(
            functions
                .col(params.getLabelCol())
                .cast("double")
                .minus(functions.col(prediction))
                .as("residuals"));
  }

  /** The name of the response. */
  String response() {
    return design == null ? params.getLabelCol() : design.response();
  }

  /** What the fit should tell of the design itself. */
  List<String> warnings() {
    return design == null ? List.of() : design.warnings();
  }

  /** The report with names in place of the numbers of columns. */
  SolveReport named(SolveReport report) {
    return report.warnings().isEmpty()
        ? report
        : new NamedWarnings(names(report.matrix().columns())).in(report);
  }

  /**
   * Names of the design's columns, the intercept last; computed on access.
   *
   * @param columns number of columns
   */
  List<String> names(int columns) {
    if (design != null) {
      return design.names();
    }
    String features = params.getFeaturesCol();
    var group = AttributeGroup.fromStructField(data.schema().apply(features));
    Attribute[] attributes = group.attributes().isDefined() ? group.attributes().get() : null;
    boolean ones = ones();
    final class View extends AbstractList<String> implements RandomAccess {
      @Override
      public String get(int j) {
        if (ones && j == columns - 1) {
          return Design.INTERCEPT;
        }
        return attributes != null && attributes[j].name().isDefined()
            ? attributes[j].name().get()
            : features + "_" + j;
      }

      @Override
      public int size() {
        return columns;
      }
    }
    return new View();
  }

  /**
   * The solver described by the params; callers add the ridge themselves. If standard errors are
   * requested, singletons stay in the tree, so that the selected inverse covers them like all other
   * columns.
   */
  SparseQRSolver solver() {
    var builder =
        GpuSparseQR.builder()
            .singletons(!params.getComputeStandardErrors())
            .listener(listener)
            .dropLater(true)
            .keep(keep())
            .drop(drop());
    if (absorbedFrom() >= 0) {
      builder.keepFrom(absorbedFrom());
    }
    params.regressionParams().configure(params, builder);
    return builder.build();
  }
}
