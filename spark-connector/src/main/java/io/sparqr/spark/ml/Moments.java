/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.internal.RowReader;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.resource.SparkErrors;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;

/**
 * Weighted moments of labels and predictions, in one pass: means and centred sums by West's update
 * (1979, Comm. ACM 22), merged in partition order, so that the bits do not depend on the order in
 * which tasks end.
 */
final class Moments implements Serializable {

  private static final long serialVersionUID = 1;

  private double weight;
  private double labelMean;
  private double labelCentred;
  private double labelSquares;
  private double predictionMean;
  private double predictionCentred;
  private double absoluteErrors;
  private double least = Double.POSITIVE_INFINITY;
  private double greatest = Double.NEGATIVE_INFINITY;
  private Fingerprint fingerprint;

  /**
   * Of the rows of a design and what x makes of them.
   *
   * @param fitted what the rows were, in any order, when x was found
   * @throws io.sparqr.error.InputChangedException if they are others now
   */
  static Moments of(JavaRDD<SparseRow> rows, double[] x, Fingerprint fitted) {
    var all = new Moments();
    var found = Fingerprint.ofNothing();
    for (Moments part :
        SparkErrors.unwrap(
            rows.mapPartitionsWithIndex((p, it) -> ofPartition(p, it, x), false)::collect)) {
      all.merge(part);
      found = found.plus(part.fingerprint);
    }
    Readings.requireSame(fitted, found);
    return all;
  }

  private static Iterator<Moments> ofPartition(
      int partition, Iterator<SparseRow> rows, double[] x) {
    var part = new Moments();
    var reader = new RowReader(partition, -1);
    while (rows.hasNext()) {
      SparseRow r = rows.next();
      if (reader.read(r)) {
        part.add(predicted(r, x), r.labels()[0], r.weight());
      }
    }
    part.fingerprint = reader.fingerprint();
    return List.of(part).iterator();
  }

  /** A column beyond x is one that the fit has not seen: the fingerprint will tell. */
  private static double predicted(SparseRow r, double[] x) {
    double sum = 0;
    for (int k = 0; k < r.indices().length; k++) {
      sum += r.indices()[k] < x.length ? r.values()[k] * x[r.indices()[k]] : 0;
    }
    return sum;
  }

  private void add(double prediction, double label, double w) {
    weight += w;
    double share = w / weight;
    double d = label - labelMean;
    labelMean += d * share;
    labelCentred += w * d * (label - labelMean);
    labelSquares += w * label * label;
    double e = prediction - predictionMean;
    predictionMean += e * share;
    predictionCentred += w * e * (prediction - predictionMean);
    double error = label - prediction;
    absoluteErrors += w * Math.abs(error);
    double deviance = Math.sqrt(w) * error;
    least = Math.min(least, deviance);
    greatest = Math.max(greatest, deviance);
  }

  private void merge(Moments other) {
    if (other.weight == 0) {
      return;
    }
    double sum = weight + other.weight;
    double share = other.weight / sum;
    double d = other.labelMean - labelMean;
    labelCentred += other.labelCentred + d * d * weight * share;
    labelMean += d * share;
    labelSquares += other.labelSquares;
    double e = other.predictionMean - predictionMean;
    predictionCentred += other.predictionCentred + e * e * weight * share;
    predictionMean += e * share;
    absoluteErrors += other.absoluteErrors;
    least = Math.min(least, other.least);
    greatest = Math.max(greatest, other.greatest);
    weight = sum;
  }

  /** W. */
  double weight() {
    return weight;
  }

  /** Sum of w (y - mean)^2. */
  double labelCentred() {
    return labelCentred;
  }

  /** Sum of w y^2. */
  double labelSquares() {
    return labelSquares;
  }

  /** Sum of w (yhat - mean of y)^2. */
  double explained() {
    double d = predictionMean - labelMean;
    return predictionCentred + weight * d * d;
  }

  /** Sum of w |y - yhat|. */
  double absoluteErrors() {
    return absoluteErrors;
  }

  /** Least and greatest sqrt(w) (y - yhat). */
  double[] devianceRange() {
    return new double[] {least, greatest};
  }
}
