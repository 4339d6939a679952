/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.ml.linalg.VectorUDT;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.regression.LinearRegression;
import org.apache.spark.ml.regression.LinearRegressionModel;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Digits of agreement with the right answer, -log10 of the relative error (Altman, Gill, McDonald
 * 2004), the worst coefficient's, beside R's lm and MLlib: {@code AccuracyTable write NIST FOLDER}
 * writes the problems for R, {@code AccuracyTable table NIST r.csv} prints the table. Everything by
 * {@code benchmarks/accuracy/table.sh}.
 */
public final class AccuracyTable {

  /** More than a double can have. */
  private static final double MOST = 15;

  private AccuracyTable() {}

  /** Coefficients in the design's order; errors may be missing. */
  private record Fit(double[] estimate, double[] error) {}

  /** See the class. */
  public static void main(String[] args) throws IOException {
    List<AccuracyProblem> problems = AccuracyProblem.all(Path.of(args[1]));
    if (args[0].equals("write")) {
      for (AccuracyProblem p : problems) {
        write(p, Path.of(args[2]).resolve(p.name() + ".csv"));
      }
      return;
    }
    List<String> r = Files.readAllLines(Path.of(args[2]));
    SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate();
    spark.sparkContext().setLogLevel("OFF");
    System.out.println("Digits of the worst coefficient / of the worst standard error.");
    System.out.println();
    System.out.println(
        "| problem | rows x columns | Sparqr | R lm | R lm, tol = 1e-14 | MLlib normal | MLlib l-bfgs |");
    System.out.println("|---|---|---|---|---|---|---|");
    for (AccuracyProblem p : problems) {
      Dataset<Row> data = data(spark, p);
      List<String> cells =
          List.of(
              digits(p, () -> sparqr(p, data)),
              digits(p, () -> ofR(p, r, "1e-07")),
              digits(p, () -> ofR(p, r, "1e-14")),
              digits(p, () -> mllib(p, data, "normal")),
              digits(p, () -> mllib(p, data, "l-bfgs")));
      System.out.printf(
          "| %s | %d x %d | %s |%n",
          p.name(), p.b().length, p.estimate().length, String.join(" | ", cells));
    }
    spark.stop();
  }

  private static void write(AccuracyProblem p, Path file) throws IOException {
    var lines = new ArrayList<String>();
    lines.add(
        "y,"
            + IntStream.range(0, p.estimate().length)
                .mapToObj(j -> "c" + j)
                .collect(Collectors.joining(",")));
    for (int i = 0; i < p.b().length; i++) {
      // the shortest decimals that give exactly these doubles
      lines.add(
          p.b()[i]
              + ","
              + Arrays.stream(p.a()[i])
                  .mapToObj(Double::toString)
                  .collect(Collectors.joining(",")));
    }
    Files.write(file, lines);
  }

  private static Dataset<Row> data(SparkSession spark, AccuracyProblem p) {
    int features = p.estimate().length - (p.intercept() ? 1 : 0);
    var rows = new ArrayList<Row>();
    for (int i = 0; i < p.b().length; i++) {
      rows.add(RowFactory.create(p.b()[i], Vectors.dense(Arrays.copyOf(p.a()[i], features))));
    }
    return spark.createDataFrame(
        rows, new StructType().add("label", DataTypes.DoubleType).add("features", new VectorUDT()));
  }

  private static Fit sparqr(AccuracyProblem p, Dataset<Row> data) {
    var model = new SparseQRRegression().setFitIntercept(p.intercept()).fit(data);
    return new Fit(
        withIntercept(p, model.coefficients().toArray(), model.intercept()),
        model.summary().coefficientStandardErrors());
  }

  private static Fit mllib(AccuracyProblem p, Dataset<Row> data, String solver) {
    LinearRegression regression =
        new LinearRegression().setFitIntercept(p.intercept()).setSolver(solver);
    boolean exact = solver.equals("normal");
    if (!exact) {
      regression.setMaxIter(1000).setTol(1e-15);
    }
    LinearRegressionModel model = regression.fit(data);
    double[] x = withIntercept(p, model.coefficients().toArray(), model.intercept());
    double[] errors = null;
    if (exact) {
      try {
        errors = model.summary().coefficientStandardErrors();
      } catch (UnsupportedOperationException e) {
        // its Cholesky factorization failed and it switched to l-bfgs, which gives no standard
        // errors
        errors = null;
      }
    }
    return new Fit(x, errors);
  }

  private static double[] withIntercept(AccuracyProblem p, double[] coefficients, double last) {
    double[] x = Arrays.copyOf(coefficients, p.estimate().length);
    if (p.intercept()) {
      x[x.length - 1] = last;
    }
    return x;
  }

  private static Fit ofR(AccuracyProblem p, List<String> lines, String tolerance) {
    int n = p.estimate().length;
    var fit = new Fit(new double[n], new double[n]);
    int found = 0;
    for (String line : lines) {
      String[] f = line.split(",");
      if (f[0].equals(p.name()) && f[1].equals(tolerance)) {
        int column = Integer.parseInt(f[2]);
        fit.estimate[column] = f[3].equals("NA") ? Double.NaN : Double.parseDouble(f[3]);
        fit.error[column] = f[4].equals("NA") ? Double.NaN : Double.parseDouble(f[4]);
        found++;
      }
    }
    if (found != n) {
      throw new IllegalStateException(p.name() + " has " + found + " values of R, not " + n);
    }
    return fit;
  }

  private static String digits(AccuracyProblem p, Supplier<Fit> fitted) {
    Fit fit = fitted.get();
    boolean exact = Arrays.stream(p.error()).anyMatch(e -> e == 0);
    String errors = exact || fit.error == null ? "-" : worst(fit.error, p.error());
    return worst(fit.estimate, p.estimate()) + " / " + errors;
  }

  private static String worst(double[] found, double[] right) {
    double least = MOST;
    for (int j = 0; j < right.length; j++) {
      if (Double.isNaN(found[j])) {
        return "dropped";
      }
      double off = Math.abs(found[j] - right[j]) / Math.abs(right[j]);
      least = Math.min(least, off == 0 ? MOST : Math.max(0, -Math.log10(off)));
    }
    return String.format(Locale.ROOT, "%.1f", least);
  }
}
