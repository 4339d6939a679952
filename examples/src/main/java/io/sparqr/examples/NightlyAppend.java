/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * The nightly batch: last night's R is loaded, today's rows are appended, the new R is saved for
 * tomorrow. Yesterday's rows are never read again, new customers come as new columns, and the
 * coefficients are those of a fit of everything. Builds on {@link RefitWithNewLabels}.
 */
public final class NightlyAppend {

  private static final int NIGHTS = 4;
  private static final int PRODUCTS = 20;
  private static final int CUSTOMERS = 300;

  private NightlyAppend() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(NightlyAppend::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    try {
      // On a cluster any folder that executors can reach: hdfs://, s3a://
      Path models = Files.createTempDirectory("sparqr-nightly");
      try {
        return nights(context, models, out);
      } finally {
        delete(models);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean nights(JavaSparkContext context, Path models, PrintStream out)
      throws IOException {
    List<SparseRow> everything = new ArrayList<>();
    LeastSquaresSolution latest = null;
    double[] errors = {};
    for (int night = 0; night < NIGHTS; night++) {
      List<SparseRow> today = sales(night);
      everything.addAll(today);
      String folder = models.resolve("night-" + night).toUri().toString();
      if (night == 0) {
        try (QRFactorization f = GpuSparseQR.builder().factorize(context.parallelize(today, 3))) {
          f.save(folder);
        }
        continue;
      }
      String before = models.resolve("night-" + (night - 1)).toUri().toString();
      try (QRFactorization old = GpuSparseQR.load(context, before);
          QRFactorization all = old.append(context.parallelize(today, 2))) {
        all.save(folder);
        latest = all.solve();
        errors = all.standardErrors();
        out.printf(
            "night %d: %d new rows, %d in all, %d columns, rank %d%n",
            night,
            today.size(),
            all.summary().matrix().rows(),
            all.summary().matrix().columns(),
            all.rank());
      }
    }
    try (QRFactorization f = GpuSparseQR.builder().factorize(context.parallelize(everything, 4))) {
      return isSame(f.solve(), latest, f.standardErrors(), errors, out);
    }
  }

  private static boolean isSame(
      LeastSquaresSolution refit,
      LeastSquaresSolution appended,
      double[] refitErrors,
      double[] appendedErrors,
      PrintStream out) {
    double off = 0;
    double errorOff = 0;
    for (int j = 0; j < refit.x().length; j++) {
      off = Math.max(off, Math.abs(refit.x()[j] - appended.x()[j]));
      errorOff = Math.max(errorOff, Math.abs(refitErrors[j] / appendedErrors[j] - 1));
    }
    out.printf(
        "residual norms: refit %.9f, appended %.9f%n",
        refit.residualNorm(), appended.residualNorm());
    out.printf(
        "largest difference: %.1e of a coefficient, %.1e of an error, relative%n", off, errorOff);
    return refit.x().length == appended.x().length
        && off <= 1e-12 * 100
        && errorOff <= 1e-11
        && Example.close(refit.residualNorm(), appended.residualNorm());
  }

  /** What a customer spends: by discount, product and customer; more customers every night. */
  private static List<SparseRow> sales(int night) {
    SplittableRandom random = new SplittableRandom(41 + night);
    int customers = CUSTOMERS + 25 * night;
    int count = night == 0 ? 6000 : 500;
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      // each customer buys at least once in the first night, or in the one that brings them
      int fresh = night == 0 ? 0 : customers - 25;
      int customer = fresh + i < customers ? fresh + i : random.nextInt(customers);
      int product = i % PRODUCTS;
      double discount = random.nextDouble(0, 0.3);
      double spent = 50 + customer % 13 + 2 * product + 80 * discount + random.nextDouble(-10, 10);
      // customers come last, so that new ones are new columns; product 0 is the reference
      int buyer = PRODUCTS + customer;
      rows.add(
          product == 0
              ? new SparseRow(new int[] {0, buyer}, new double[] {discount, 1}, spent)
              : new SparseRow(new int[] {0, product, buyer}, new double[] {discount, 1, 1}, spent));
    }
    return rows;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path p : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(p);
      }
    }
  }
}
