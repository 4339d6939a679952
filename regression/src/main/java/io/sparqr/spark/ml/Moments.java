/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.numeric.ColumnNorms;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.OwnObjects;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * Weighted moments of labels and predictions, in one pass: means and centred sums by West's update
 * (1979, Comm. ACM 22), merged in partition order, so that the bits do not depend on the order in
 * which tasks end. Sums of squares are kept and returned as norms, which do not overflow for any
 * label. Rows of weight 0 are ignored.
 *
 * <p>Spark's {@code Summarizer} adds plain squares, which overflow from labels of 1e154 on and
 * vanish below 1e-162, and merges partitions in the order in which their tasks end.
 */
final class Moments implements Serializable {

  private static final long serialVersionUID = 1;

  private static final int LABELS = 0;
  private static final int LABELS_CENTRED = 1;
  private static final int PREDICTIONS = 2;
  private static final int PREDICTIONS_CENTRED = 3;
  private static final int ERRORS = 4;

  private final ColumnNorms norms = new ColumnNorms(5);
  private double weight;
  private double labelMean;
  private double predictionMean;
  private double absoluteErrors;
  private double logWeights;
  private boolean weighted;
  private double least = Double.POSITIVE_INFINITY;
  private double greatest = Double.NEGATIVE_INFINITY;

  /** Encoded as a frame, because Kryo cannot read records. */
  @SuppressWarnings("NullAway.Init") // of a part, once it is read
  private byte[] fingerprint;

  /**
   * Moments of the rows of a design and of their predictions by x, which is broadcast.
   *
   * @param fitted fingerprint of the rows, in any order, from the fit of x
   * @throws io.sparqr.error.InputChangedException if the rows have changed since
   */
  static Moments of(JavaRDD<SparseRow> rows, double[] x, Fingerprint fitted) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(rows.context());
    Broadcast<double[]> at = context.broadcast(x);
    var all = new Moments();
    var found = Fingerprint.ofNothing();
    try (var scope = new JobScope(context)) {
      scope.describe("moments of labels and predictions");
      JavaRDD<byte[]> parts =
          rows.mapPartitionsWithIndex((p, it) -> ofPartition(p, it, at.value()), false);
      for (byte[] sent : SparkErrors.unwrap(parts::collect)) {
        Moments part = OwnObjects.object(sent, Moments.class);
        all.merge(part);
        found = found.plus(ObjectCodec.decode(part.fingerprint, Fingerprint.class));
      }
    } finally {
      at.destroy();
    }
    Readings.requireSame(fitted, found);
    return all;
  }

  private static Iterator<byte[]> ofPartition(int partition, Iterator<SparseRow> rows, double[] x) {
    var part = new Moments();
    var reader = new RowReader(partition, -1);
    while (rows.hasNext()) {
      SparseRow r = rows.next();
      if (reader.read(r)) {
        part.add(predicted(r, x), r.labels()[0], r.weight());
      }
    }
    part.fingerprint = ObjectCodec.encode(reader.fingerprint());
    return List.of(OwnObjects.bytes(part)).iterator();
  }

  /**
   * Columns beyond x, which the fit has not seen, are skipped; the fingerprint check reports them.
   */
  private static double predicted(SparseRow r, double[] x) {
    double sum = 0;
    for (int k = 0; k < r.indices().length; k++) {
      sum += r.indices()[k] < x.length ? r.values()[k] * x[r.indices()[k]] : 0;
    }
    return sum;
  }

  private void add(double prediction, double label, double w) {
    if (!(w > 0)) {
      return;
    }
    double before = weight;
    weight += w;
    double share = w / weight;
    double root = Math.sqrt(w);
    double centred = root * Math.sqrt(before / weight);
    double d = label - labelMean;
    labelMean += d * share;
    norms.add(LABELS_CENTRED, d * centred);
    norms.add(LABELS, label * root);
    double e = prediction - predictionMean;
    predictionMean += e * share;
    norms.add(PREDICTIONS_CENTRED, e * centred);
    norms.add(PREDICTIONS, prediction * root);
    double error = label - prediction;
    absoluteErrors += w * Math.abs(error);
    if (w != 1) {
      logWeights += Math.log(w);
      weighted = true;
    }
    double deviance = root * error;
    norms.add(ERRORS, deviance);
    least = Math.min(least, deviance);
    greatest = Math.max(greatest, deviance);
  }

  private void merge(Moments other) {
    if (other.weight == 0) {
      return;
    }
    double sum = weight + other.weight;
    double share = other.weight / sum;
    double centred = Math.sqrt(other.weight) * Math.sqrt(weight / sum);
    double d = other.labelMean - labelMean;
    norms.merge(other.norms);
    norms.add(LABELS_CENTRED, d * centred);
    labelMean += d * share;
    double e = other.predictionMean - predictionMean;
    norms.add(PREDICTIONS_CENTRED, e * centred);
    predictionMean += e * share;
    absoluteErrors += other.absoluteErrors;
    logWeights += other.logWeights;
    weighted |= other.weighted;
    least = Math.min(least, other.least);
    greatest = Math.max(greatest, other.greatest);
    weight = sum;
  }

  /** Sum of the weights, W. */
  double weight() {
    return weight;
  }

  /** Root of the sum of w (y - mean)^2; 0 only if all labels are equal. */
  double labelsCentred() {
    return norms.norm(LABELS_CENTRED);
  }

  /** Root of the sum of w y^2. */
  double labels() {
    return norms.norm(LABELS);
  }

  /** Root of the sum of w yhat^2. */
  double predictions() {
    return norms.norm(PREDICTIONS);
  }

  /** Root of the sum of w (y - yhat)^2. */
  double errors() {
    return norms.norm(ERRORS);
  }

  /** Root of the sum of w (yhat - mean of y)^2. */
  double explained() {
    double d = Math.sqrt(weight) * (predictionMean - labelMean);
    return Math.hypot(norms.norm(PREDICTIONS_CENTRED), d);
  }

  /** Sum of w |y - yhat|. */
  double absoluteErrors() {
    return absoluteErrors;
  }

  /** Sum of log w. */
  double logWeights() {
    return logWeights;
  }

  /** Whether any weight differs from 1. */
  boolean weighted() {
    return weighted;
  }

  /** Least and greatest sqrt(w) (y - yhat). */
  double[] devianceRange() {
    return new double[] {least, greatest};
  }
}
