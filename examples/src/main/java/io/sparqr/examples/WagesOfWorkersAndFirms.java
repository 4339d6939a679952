/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.inference.ClusterCorrection;
import io.sparqr.spark.inference.ContrastTest;
import io.sparqr.spark.inference.HcType;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.inference.LeaveOneOutSet;
import io.sparqr.spark.inference.LeaveOutVariance;
import io.sparqr.spark.inference.VarianceComponents;
import io.sparqr.spark.model.SparseRow;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * Log wages with effects of workers and firms: the effect of a year of tenure, with errors
 * clustered by firm, and the share of firms in the variance of wages. The plain variance of
 * estimated effects is too large, because it contains their noise; the leave-out correction removes
 * the noise exactly, by the leverage of every row. Builds on {@link OneHotRegression}.
 */
public final class WagesOfWorkersAndFirms {

  private static final int WORKERS = 900;
  private static final int FIRMS = 30;
  private static final int YEARS = 5;

  private WagesOfWorkersAndFirms() {}

  /** One year of one worker. */
  private record Spell(int worker, int firm, double tenure, double wage)
      implements java.io.Serializable {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(WagesOfWorkersAndFirms::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    double[] truth = new double[1];
    List<Spell> all = spells(truth);
    LeaveOneOutSet set =
        LeaveOneOutSet.of(
            context.parallelize(all.stream().map(s -> new int[] {s.worker, s.firm}).toList(), 4));
    List<Spell> kept = all.stream().filter(s -> set.contains(s.worker, s.firm)).toList();
    int[] worker = numbers(set.workers());
    int[] firm = numbers(set.firms());
    int workers = set.workers().cardinality();
    int firms = set.firms().cardinality();
    JavaRDD<SparseRow> rows =
        context.parallelize(
            kept.stream()
                .map(
                    s ->
                        new SparseRow(
                            new int[] {worker[s.worker], workers + firm[s.firm], workers + firms},
                            new double[] {1, 1, s.tenure},
                            s.wage))
                .toList(),
            4);
    JavaRDD<Integer> firmOfRow = context.parallelize(kept.stream().map(Spell::firm).toList(), 4);
    try (QRFactorization f = GpuSparseQR.builder().build().factorize(rows)) {
      Inference fit = Inference.of(f, rows);
      int tenure = workers + firms;
      ContrastTest clustered =
          fit.clustered(ClusterCorrection.fixest(), firmOfRow, tenure).tests().get(0);
      double robust = fit.robust(HcType.HC3, tenure).standardErrors()[0];
      VarianceComponents v =
          LeaveOutVariance.of(
              fit,
              IntStream.range(0, workers).toArray(),
              IntStream.range(workers, workers + firms).toArray());
      out.printf(
          Locale.ROOT,
          "%,d of %,d observations, tenure %.4f (clustered by firm %.4f, HC3 %.4f)%n",
          kept.size(),
          all.size(),
          clustered.estimate(),
          clustered.standardError(),
          robust);
      out.printf(
          Locale.ROOT,
          "variance of firm effects: true %.4f, of the estimates %.4f, leave-out %.4f%n",
          truth[0],
          v.plugIn().firm(),
          v.leaveOut().firm());
      out.printf(
          Locale.ROOT,
          "correlation with the workers': of the estimates %.3f, leave-out %.3f%n",
          v.plugIn().correlation(),
          v.leaveOut().correlation());
      boolean closer =
          Math.abs(v.leaveOut().firm() - truth[0]) < Math.abs(v.plugIn().firm() - truth[0]);
      return closer && Math.abs(clustered.estimate() - 0.03) < 5 * clustered.standardError();
    }
  }

  /** Numbers without gaps, indexed by the old numbers. */
  private static int[] numbers(BitSet set) {
    int[] number = new int[set.length()];
    int next = 0;
    for (int k = set.nextSetBit(0); k >= 0; k = set.nextSetBit(k + 1)) {
      number[k] = next++;
    }
    return number;
  }

  /** Few movers and much noise: where the plain variance goes wrong. */
  private static List<Spell> spells(double[] variance) {
    var random = new Random(3);
    double[] effect = new double[FIRMS];
    for (int j = 0; j < FIRMS; j++) {
      effect[j] = 0.1 * random.nextGaussian();
    }
    var spells = new ArrayList<Spell>();
    double sum = 0;
    double squares = 0;
    for (int w = 0; w < WORKERS; w++) {
      double ability = 0.3 * random.nextGaussian();
      int firm = random.nextInt(FIRMS);
      int tenure = 0;
      for (int year = 0; year < YEARS; year++) {
        if (random.nextInt(12) == 0) {
          firm = random.nextInt(FIRMS);
          tenure = 0;
        }
        double noise = 0.3 * (1 + firm % 3) / 2 * random.nextGaussian();
        spells.add(new Spell(w, firm, tenure, 3 + ability + effect[firm] + 0.03 * tenure + noise));
        tenure++;
        sum += effect[firm];
        squares += effect[firm] * effect[firm];
      }
    }
    double mean = sum / spells.size();
    variance[0] = squares / spells.size() - mean * mean;
    return spells;
  }
}
