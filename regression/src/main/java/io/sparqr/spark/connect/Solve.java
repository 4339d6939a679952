/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.plan.Words;
import io.sparqr.spark.python.Parcels;
import io.sparqr.spark.python.PythonSupport;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.util.UUID;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Least squares as a transformer, rows of A and b to the solution: {@code sparqr.solve} in Python
 * uses it over Spark Connect. The solve runs in {@link #transform}, once, in the thread of the
 * call; the result is {@link Parcels} of "report" (JSON), "page" (HTML, with a profile) and the
 * solutions "0", "1", ..., one for each label column.
 */
public final class Solve extends Transformer {

  private static final long serialVersionUID = 1;

  private final String uid;
  private final Param<String> featuresCol;
  private final Param<String> weightCol;
  private final StringArrayParam labelCols;
  private final StringArrayParam options;

  /** An instance with a random uid. */
  public Solve() {
    this("sparqrSolve_" + UUID.randomUUID().toString().substring(24));
  }

  /** An instance with a given uid. */
  public Solve(String uid) {
    this.uid = uid;
    featuresCol = new Param<>(uid, "featuresCol", "vector column: the rows of A");
    weightCol = new Param<>(uid, "weightCol", "weight column; empty: all weights are 1");
    labelCols = new StringArrayParam(this, "labelCols", "numeric columns: the right-hand sides");
    options =
        new StringArrayParam(this, "options", "options of GpuSparseQR.Builder, each as name=value");
    setDefault(featuresCol, "features");
    setDefault(weightCol, "");
    setDefault(labelCols, new String[] {"label"});
    setDefault(options, new String[0]);
  }

  @Override
  public String uid() {
    return uid;
  }

  /** Vector column with the rows of A; default "features". */
  public Param<String> featuresCol() {
    return featuresCol;
  }

  /** Weight column; default empty: all weights are 1. */
  public Param<String> weightCol() {
    return weightCol;
  }

  /** Numeric columns with the right-hand sides; default "label". */
  public StringArrayParam labelCols() {
    return labelCols;
  }

  /**
   * Options of {@link GpuSparseQR.Builder} under the same names, each as name=value; default none.
   */
  public StringArrayParam options() {
    return options;
  }

  /**
   * Solves.
   *
   * @throws IllegalArgumentException for an unknown option or an invalid value; other errors as in
   *     {@link io.sparqr.spark.SparseQRSolver#solve(Dataset)}
   */
  @Override
  public Dataset<Row> transform(Dataset<?> data) {
    var builder = GpuSparseQR.builder();
    for (String option : getOrDefault(options)) {
      int at = option.indexOf('=');
      if (at < 1) {
        throw new IllegalArgumentException(
            "option \"" + option + "\" is not of the form name=value");
      }
      set(builder, option.substring(0, at), option.substring(at + 1));
    }
    LeastSquaresSolution found =
        builder
            .build()
            .solve(
                data.toDF(),
                getOrDefault(featuresCol),
                getOrDefault(weightCol),
                getOrDefault(labelCols));
    var parcels =
        new Parcels()
            .text("report", found.report().toJson())
            .text("page", PythonSupport.page(found.report()));
    for (int k = 0; k < found.rhsCount(); k++) {
      parcels.numbers(Integer.toString(k), found.x(k));
    }
    return parcels.table(data.sparkSession());
  }

  private static void set(GpuSparseQR.Builder builder, String name, String value) {
    switch (name) {
      case "ordering" -> builder.ordering(Words.ORDERINGS.of(value));
      case "backend" -> builder.backend(Words.BACKENDS.of(value));
      case "rankPolicy" -> builder.rankPolicy(Words.RANK_POLICIES.of(value));
      case "ridge" -> builder.ridge(Double.parseDouble(value));
      case "rankTolerance" -> builder.rankTolerance(Double.parseDouble(value));
      case "minRcond" -> builder.minRcond(Double.parseDouble(value));
      case "executorWait" -> builder.executorWait(Double.parseDouble(value));
      case "equilibrate" -> builder.equilibrate(truth(name, value));
      case "minimumNorm" -> builder.minimumNorm(truth(name, value));
      case "check" -> builder.check(truth(name, value));
      case "profile" -> builder.profile(truth(name, value));
      case "columns" -> builder.columns(Integer.parseInt(value));
      case "executors" -> builder.executors(Integer.parseInt(value));
      case "minimumExecutors" -> builder.minimumExecutors(Integer.parseInt(value));
      case "partitions" -> builder.partitions(Integer.parseInt(value));
      case "refinement" -> builder.refinement(Integer.parseInt(value));
      default -> throw new IllegalArgumentException("no option " + name);
    }
  }

  private static boolean truth(String name, String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(name + " " + value + " is neither true nor false");
    };
  }

  @Override
  public StructType transformSchema(StructType schema) {
    return Parcels.SCHEMA;
  }

  @Override
  public Solve copy(ParamMap extra) {
    return this.<Solve>defaultCopy(extra);
  }
}
