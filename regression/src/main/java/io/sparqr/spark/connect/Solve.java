/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.python.Parcels;
import io.sparqr.spark.python.PythonSupport;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.util.List;
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
    LeastSquaresSolution found =
        PythonSupport.builder(List.of(getOrDefault(options)))
            .build()
            .solve(
                data.toDF(),
                PythonSupport.columns(
                    getOrDefault(featuresCol),
                    getOrDefault(weightCol),
                    List.of(getOrDefault(labelCols))));
    var parcels =
        new Parcels()
            .text("report", found.report().toJson())
            .text("page", PythonSupport.page(found.report()));
    for (int k = 0; k < found.rhsCount(); k++) {
      parcels.numbers(Integer.toString(k), found.x(k));
    }
    return parcels.table(data.sparkSession());
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
