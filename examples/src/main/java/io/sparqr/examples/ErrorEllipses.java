/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.ConstrainedFactorization;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * A plane network of measured distances, adjusted by the Gauss-Newton method: coordinates in
 * metres, corrections in millimetres, with the error ellipse of each station. Distances do not say
 * where the network lies; one station and a bearing are held (the datum), or the network as a whole
 * by inner constraints, and neither changes the adjusted distances. Builds on {@link
 * RankDeficient}.
 */
public final class ErrorEllipses {

  private static final int SIDE = 4;
  private static final int STATIONS = SIDE * SIDE;
  private static final double SPACING = 500;

  /** Columns held: both coordinates of station 0, and y of the last one in its row. */
  private static final int[] DATUM = {0, 1, 2 * (SIDE - 1) + 1};

  private ErrorEllipses() {}

  private record Distance(int from, int to, double metres, double sigmaMillimetres) {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(ErrorEllipses::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    double[] xy = approximate();
    List<Distance> measured = measured();
    double correction = Double.POSITIVE_INFINITY;
    for (int k = 0; k < 10 && correction > 1e-3; k++) {
      double[] dx;
      try (QRFactorization f = held(context.parallelize(linearized(measured, xy), 2))) {
        dx = f.solve().x();
      }
      correction = Arrays.stream(dx).map(Math::abs).max().orElseThrow();
      out.printf("step %d: largest correction %.1e mm%n", k, correction);
      Arrays.setAll(xy, j -> xy[j] + dx[j] / 1000);
    }

    List<SparseRow> observations = linearized(measured, xy);
    JavaRDD<SparseRow> rows = context.parallelize(observations, 2);
    boolean right;
    try (QRFactorization f = held(rows)) {
      Inference inference = Inference.of(f, rows);
      out.printf(
          "%d distances, %d unknowns of rank %d, sigma %.3f of weight 1%n",
          measured.size(), 2 * STATIONS, f.rank(), inference.sigma());
      int[] free = free();
      double[][] v = inference.covariance(free);
      out.println("station   semi-axes [mm]   of the major axis: degrees from x");
      for (int s : new int[] {1, SIDE + 1, STATIONS - 1}) {
        int at = Arrays.binarySearch(free, 2 * s);
        out.printf("%7d%s%n", s, ellipse(v[at][at], v[at][at + 1], v[at + 1][at + 1]));
      }
      double[][] between = inference.covariance(differences(5, 10));
      out.printf(" 5 to 10%s%n", ellipse(between[0][0], between[0][1], between[1][1]));
      right = isInverse(observations, free, v, inference.sigma());
      right &= datumsAgree(rows, xy, inference, out);
    }
    return right && correction <= 1e-3;
  }

  /** The columns of the datum are the dependent ones that are dropped: their corrections are 0. */
  private static QRFactorization held(JavaRDD<SparseRow> rows) {
    return GpuSparseQR.builder().columns(2 * STATIONS).drop(DATUM).factorize(rows);
  }

  private static int[] free() {
    return IntStream.range(0, 2 * STATIONS)
        .filter(j -> Arrays.binarySearch(DATUM, j) < 0)
        .toArray();
  }

  /**
   * Coordinate differences of two stations: their ellipse does not grow with the distance from the
   * datum.
   */
  private static List<SparseRow> differences(int from, int to) {
    double[] signs = {-1, 1};
    return List.of(
        new SparseRow(new int[] {2 * from, 2 * to}, signs, 0),
        new SparseRow(new int[] {2 * from + 1, 2 * to + 1}, signs, 0));
  }

  /** Semi-axes are the roots of the block's eigenvalues. */
  private static String ellipse(double xx, double xy, double yy) {
    double mean = (xx + yy) / 2;
    double radius = Math.hypot((xx - yy) / 2, xy);
    double angle = Math.toDegrees(Math.atan2(2 * xy, xx - yy) / 2);
    double minor = Math.sqrt(Math.max(0, mean - radius));
    return String.format("   %6.3f  %6.3f %12.1f", Math.sqrt(mean + radius), minor, angle);
  }

  /** Whether A'A times the covariance is sigma^2 I, which needs no inverse. */
  private static boolean isInverse(List<SparseRow> rows, int[] free, double[][] v, double sigma) {
    double[][] product = new double[free.length][free.length];
    for (SparseRow r : rows) {
      for (int c = 0; c < free.length; c++) {
        double av = 0;
        for (int e = 0; e < r.indices().length; e++) {
          int at = Arrays.binarySearch(free, r.indices()[e]);
          av += at < 0 ? 0 : r.values()[e] * v[at][c];
        }
        for (int e = 0; e < r.indices().length; e++) {
          int at = Arrays.binarySearch(free, r.indices()[e]);
          if (at >= 0) {
            product[at][c] += r.weight() * r.values()[e] * av / (sigma * sigma);
          }
        }
      }
    }
    boolean right = true;
    for (int i = 0; i < free.length; i++) {
      for (int c = 0; c < free.length; c++) {
        right &= Math.abs(product[i][c] - (i == c ? 1 : 0)) < 1e-9;
      }
    }
    return right;
  }

  /** The same datum by constraints has the same errors; inner constraints the same residuals. */
  private static boolean datumsAgree(
      JavaRDD<SparseRow> rows, double[] xy, Inference inference, PrintStream out) {
    var held = new ArrayList<SparseRow>();
    for (int j : DATUM) {
      held.add(new SparseRow(new int[] {j}, new double[] {1}, 0));
    }
    var solver = GpuSparseQR.builder().columns(2 * STATIONS).build();
    double[] errors = inference.standardErrors();
    double[] constrained;
    try (ConstrainedFactorization f = solver.factorize(rows, LinearConstraints.of(held))) {
      constrained = f.standardErrors();
    }
    boolean same = true;
    for (int j : free()) {
      same &= Math.abs(errors[j] - constrained[j]) <= 1e-8 * errors[j];
    }
    LeastSquaresSolution inner;
    double[] innerErrors;
    try (ConstrainedFactorization f = solver.factorize(rows, inner(xy))) {
      inner = f.solve();
      innerErrors = f.standardErrors();
    }
    double norm = inference.residualNorm();
    out.printf("residual norms %.6f and, by inner constraints, %.6f%n", norm, inner.residualNorm());
    out.printf(
        "mean error of a coordinate: %.3f mm with the datum held, %.3f by inner constraints%n",
        rootMeanSquare(constrained), rootMeanSquare(innerErrors));
    return same
        && Math.abs(inner.residualNorm() - norm) <= 1e-9 * norm
        && rootMeanSquare(innerErrors) < rootMeanSquare(constrained);
  }

  /** The corrections shift nothing and turn nothing: sums of dx, of dy, and of x dy - y dx. */
  private static LinearConstraints inner(double[] xy) {
    int[] all = IntStream.range(0, 2 * STATIONS).toArray();
    var rows = new ArrayList<SparseRow>();
    for (int axis = 0; axis < 2; axis++) {
      int[] columns = new int[STATIONS];
      double[] ones = new double[STATIONS];
      for (int s = 0; s < STATIONS; s++) {
        columns[s] = 2 * s + axis;
        ones[s] = 1;
      }
      rows.add(new SparseRow(columns, ones, 0));
    }
    double[] turn = new double[2 * STATIONS];
    for (int s = 0; s < STATIONS; s++) {
      turn[2 * s] = -xy[2 * s + 1];
      turn[2 * s + 1] = xy[2 * s];
    }
    rows.add(new SparseRow(all, turn, 0));
    return LinearConstraints.of(rows);
  }

  private static double rootMeanSquare(double[] v) {
    return Math.sqrt(Arrays.stream(v).map(t -> t * t).average().orElseThrow());
  }

  /** Measured less computed [mm] and the direction cosines, weights 1 / sigma^2. */
  private static List<SparseRow> linearized(List<Distance> measured, double[] xy) {
    var rows = new ArrayList<SparseRow>();
    for (Distance d : measured) {
      double dx = xy[2 * d.to] - xy[2 * d.from];
      double dy = xy[2 * d.to + 1] - xy[2 * d.from + 1];
      double length = Math.hypot(dx, dy);
      double cos = dx / length;
      double sin = dy / length;
      int[] columns = {2 * d.from, 2 * d.from + 1, 2 * d.to, 2 * d.to + 1};
      double weight = 1 / (d.sigmaMillimetres * d.sigmaMillimetres);
      double off = 1000 * (d.metres - length);
      rows.add(new SparseRow(columns, new double[] {-cos, -sin, cos, sin}, off, weight));
    }
    return rows;
  }

  private static double[] truth() {
    double[] xy = new double[2 * STATIONS];
    SplittableRandom random = new SplittableRandom(31);
    for (int s = 0; s < STATIONS; s++) {
      boolean held = s == 0 || s == SIDE - 1;
      xy[2 * s] = SPACING * (s % SIDE) + (held ? 0 : random.nextDouble(-80, 80));
      xy[2 * s + 1] = SPACING * (s / SIDE) + (held ? 0 : random.nextDouble(-80, 80));
    }
    return xy;
  }

  /** The true coordinates plus errors of a few metres; those of the datum are known. */
  private static double[] approximate() {
    double[] xy = truth();
    SplittableRandom random = new SplittableRandom(32);
    for (int j : free()) {
      xy[j] += random.nextDouble(-3, 3);
    }
    return xy;
  }

  /** Distances between neighbours, diagonal ones too, with errors of 2 mm plus 2 mm a kilometre. */
  private static List<Distance> measured() {
    double[] xy = truth();
    SplittableRandom random = new SplittableRandom(33);
    var all = new ArrayList<Distance>();
    for (int s = 0; s < STATIONS; s++) {
      for (int t = s + 1; t < STATIONS; t++) {
        if (Math.abs(s % SIDE - t % SIDE) > 1 || t / SIDE - s / SIDE > 1) {
          continue;
        }
        double length = Math.hypot(xy[2 * t] - xy[2 * s], xy[2 * t + 1] - xy[2 * s + 1]);
        double sigma = 2 + 2 * length / 1000;
        // of variance 1
        double error = IntStream.range(0, 12).mapToDouble(k -> random.nextDouble()).sum() - 6;
        all.add(new Distance(s, t, length + sigma * error / 1000, sigma));
      }
    }
    return all;
  }
}
