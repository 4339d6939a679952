/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

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

  /** Of rows (prediction, label, weight), all doubles. */
  static Moments of(Dataset<Row> rows) {
    var all = new Moments();
    for (Moments part : rows.javaRDD().mapPartitions(Moments::ofPartition).collect()) {
      all.merge(part);
    }
    return all;
  }

  private static Iterator<Moments> ofPartition(Iterator<Row> rows) {
    var part = new Moments();
    while (rows.hasNext()) {
      Row r = rows.next();
      if (r.getDouble(2) > 0) {
        part.add(r.getDouble(0), r.getDouble(1), r.getDouble(2));
      }
    }
    return List.of(part).iterator();
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
