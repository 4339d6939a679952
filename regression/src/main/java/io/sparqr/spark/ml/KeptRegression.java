/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.model.SparseRow;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A fitted model with its factorization still on the executors, for statistics beyond the summary:
 * covariances, contrasts and tests of several coefficients, comparisons of nested fits, intervals,
 * leverages of all rows. Holds R and the rows until it is closed. Not thread-safe.
 */
public final class KeptRegression implements AutoCloseable {

  private final SparseQRRegressionModel model;
  private final KeptFit fit;

  KeptRegression(SparseQRRegressionModel model, KeptFit fit) {
    this.model = model;
    this.fit = fit;
  }

  /** The model with its summary; usable even after this is closed. */
  public SparseQRRegressionModel model() {
    return model;
  }

  /**
   * Statistics of the fit; columns are those of the design, see {@link #column(String)}.
   *
   * @throws IllegalStateException if this is closed
   */
  public Inference inference() {
    return fit.inference();
  }

  /**
   * The column of a coefficient. O(columns).
   *
   * @throws IllegalArgumentException if there is no such coefficient
   */
  public int column(String term) {
    int column = model.summary().coefficientNames().indexOf(term);
    if (column < 0) {
      throw new IllegalArgumentException("no coefficient \"" + term + "\"");
    }
    return column;
  }

  /**
   * A linear combination of coefficients.
   *
   * @param weights by name of the coefficient
   * @param value of the combination under the hypothesis
   * @throws IllegalArgumentException if there is no such coefficient
   */
  public SparseRow contrast(Map<String, Double> weights, double value) {
    var byColumn = new TreeMap<Integer, Double>();
    weights.forEach((term, w) -> byColumn.put(column(term), w));
    List<String> names = model.summary().coefficientNames();
    return new SparseRow(
        byColumn.keySet().stream().mapToInt(j -> j).toArray(),
        byColumn.values().stream().mapToDouble(w -> w).toArray(),
        new double[] {value},
        1,
        names.size());
  }

  /** Releases everything on the cluster; idempotent. */
  @Override
  public void close() {
    fit.close();
  }
}
