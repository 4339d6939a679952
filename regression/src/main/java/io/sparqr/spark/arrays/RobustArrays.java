/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.tall.RobustPca;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Robust PCA for Python: L and S as files of little-endian numbers, the rest as JSON. */
public final class RobustArrays {

  private RobustArrays() {}

  /**
   * Decomposes rows.
   *
   * @param lambda the weight of S; below 0: the default
   */
  public static RobustPca decompose(
      JavaRDD<SparseRow> rows, String method, double lambda, double tolerance, int iterations) {
    return builder(method, lambda, tolerance, iterations).decompose(rows);
  }

  /** Decomposes a column of vectors. */
  public static RobustPca decompose(
      Dataset<Row> data,
      String column,
      String method,
      double lambda,
      double tolerance,
      int iterations) {
    return builder(method, lambda, tolerance, iterations).decompose(data, column);
  }

  private static RobustPca.Builder builder(
      String method, double lambda, double tolerance, int iterations) {
    RobustPca.Builder builder =
        RobustPca.builder()
            .method(PursuitMethod.valueOf(method))
            .tolerance(tolerance)
            .maxIterations(iterations);
    return lambda < 0 ? builder : builder.lambda(lambda);
  }

  /**
   * Writes U by rows, V' by rows, sigma, and S as compressed rows ({@code indptr} of 8 bytes each,
   * {@code indices} of 4, {@code data}); the driver holds a partition at a time.
   *
   * @param folder where the files {@code u}, {@code v}, {@code sigma}, {@code indptr}, {@code
   *     indices} and {@code data} do not exist yet
   * @return sizes, history and verdict as JSON
   * @throws IOException if a file cannot be written
   */
  public static String write(RobustPca found, String folder) throws IOException {
    TallArrays.write(found.u(), Path.of(folder, "u").toString());
    try (var v = new NumberFile(folder, "v");
        var sigma = new NumberFile(folder, "sigma")) {
      v.put(found.v().toArray());
      sigma.put(found.sigma());
    }
    Iterator<SparseRow> rows = SparkErrors.unwrap(found.sparse()::toLocalIterator);
    try (var start = new NumberFile(folder, "indptr");
        var index = new NumberFile(folder, "indices");
        var value = new NumberFile(folder, "data")) {
      long nonzeros = 0;
      start.put(nonzeros);
      while (SparkErrors.unwrap(rows::hasNext)) {
        SparseRow row = rows.next();
        index.put(row.indices());
        value.put(row.values());
        nonzeros += row.indices().length;
        start.put(nonzeros);
      }
    }
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("rows", found.rows());
    told.put("columns", found.columns());
    told.put("rank", found.rank());
    told.put("lambda", found.lambda());
    told.put("converged", found.converged());
    told.put("warnings", found.warnings());
    told.put("history", found.history());
    told.put("optimality", found.optimality());
    return new ObjectMapper().writeValueAsString(told);
  }
}
