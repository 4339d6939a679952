/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.design.Design;
import io.sparqr.spark.design.DesignOptions;
import io.sparqr.spark.design.DesignRows;
import io.sparqr.spark.inference.ClusterCorrection;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.inference.RobustCovariance;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.model.SparseRow;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;

/**
 * From a DataFrame by a formula: wages with effects of workers and of firms, errors clustered by
 * firm and by firm and year, and the effects absorbed. Builds on {@link WagesOfWorkersAndFirms}.
 */
public final class WagesByFormula {

  private static final int WORKERS = 500;
  private static final int FIRMS = 40;
  private static final int YEARS = 6;
  private static final String FORMULA = "log_wage ~ tenure + training + worker + firm";
  private static final String ABSORBED = "log_wage ~ tenure + training | worker + firm";

  private WagesByFormula() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(WagesByFormula::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    Dataset<Row> panel =
        spark.createDataFrame(
            people(),
            StructType.fromDDL(
                "worker INT, firm INT, year INT, tenure DOUBLE, training DOUBLE, log_wage DOUBLE"));
    Design design =
        Design.of(
            panel,
            DesignOptions.builder().formula(FORMULA).categorical(Set.of("worker", "firm")).build());
    try (DesignRows encoded = design.rows(panel).keep();
        QRFactorization f =
            GpuSparseQR.builder().columns(design.columns()).factorize(encoded.rows())) {
      Inference inference = Inference.of(f, encoded.rows());
      int tenure = design.names().indexOf("tenure");
      int training = design.names().indexOf("training");
      // Keys of the rows, in the rows' order.
      JavaRDD<Integer> firm = panel.toJavaRDD().map(r -> r.getInt(1));
      JavaRDD<Integer> year = panel.toJavaRDD().map(r -> r.getInt(2));
      RobustCovariance byFirm =
          inference.clustered(ClusterCorrection.sandwich(), firm, tenure, training);
      RobustCovariance byBoth =
          inference.clustered(ClusterCorrection.sandwich(), firm, year, tenure, training);
      double[] x = inference.coefficients();
      double[] classical = inference.standardErrors();
      out.printf("%d columns, rank %d%n", design.columns(), f.rank());
      out.println("          estimate    error  by firm  by firm and year");
      for (int k = 0; k < 2; k++) {
        int column = byFirm.columns()[k];
        out.printf(
            "%-9s %8.5f %8.5f %8.5f %17.5f%n",
            design.name(column),
            x[column],
            classical[column],
            byFirm.standardErrors()[k],
            byBoth.standardErrors()[k]);
      }

      double byHand = clusteredByHand(f, x, encoded.rows().collect(), firm.collect(), training);
      out.printf("training's by firm, from the definition %.5f%n", byHand);
      return Example.close(byFirm.standardErrors()[1], byHand)
          & absorbedIsTheSame(panel, x[tenure], x[training], out);
    }
  }

  /** These coefficients, without those of workers and firms. */
  private static boolean absorbedIsTheSame(
      Dataset<Row> panel, double tenure, double training, PrintStream out) {
    var model =
        new SparseQRRegression()
            .setFormula(ABSORBED)
            .setCategoricalCols("worker", "firm")
            .fit(panel);
    List<String> names = model.coefficientNames();
    double[] same = model.coefficients().toArray();
    double first = same[names.indexOf("tenure")];
    double second = same[names.indexOf("training")];
    out.printf("workers and firms absorbed: %.5f and %.5f%n", first, second);
    return Example.close(first, tenure) && Example.close(second, training);
  }

  /** Liang and Zeger's sum over firms, with z = (A'A)^-1 e_j: a loop that is easy to check. */
  private static double clusteredByHand(
      QRFactorization f, double[] x, List<SparseRow> rows, List<Integer> firm, int column) {
    double[] z = f.inverseTimes(List.of(new SparseRow(new int[] {column}, new double[] {1}, 0)))[0];
    double[] score = new double[FIRMS];
    for (int i = 0; i < rows.size(); i++) {
      double residual = rows.get(i).labels()[0] - dot(rows.get(i), x);
      score[firm.get(i)] += dot(rows.get(i), z) * residual;
    }
    double sum = Arrays.stream(score).map(s -> s * s).sum();
    double clusters = firm.stream().distinct().count();
    double n = rows.size();
    return Math.sqrt(sum * clusters / (clusters - 1) * (n - 1) / (n - f.rank()));
  }

  private static double dot(SparseRow row, double[] x) {
    double sum = 0;
    for (int e = 0; e < row.indices().length; e++) {
      sum += row.values()[e] * x[row.indices()[e]];
    }
    return sum;
  }

  /**
   * One worker in five changes the firm each year; training depends on the firm, and each firm has
   * a random effect each year.
   */
  private static List<Row> people() {
    SplittableRandom random = new SplittableRandom(17);
    double[] firmEffect = random.doubles(FIRMS, -0.4, 0.4).toArray();
    double[][] luck = new double[FIRMS][];
    Arrays.setAll(luck, f -> random.doubles(YEARS, -0.2, 0.2).toArray());
    double[][] training = new double[FIRMS][];
    Arrays.setAll(training, f -> random.doubles(YEARS, 0, 10).toArray());
    List<Row> rows = new ArrayList<>();
    for (int worker = 0; worker < WORKERS; worker++) {
      double effect = random.nextDouble(-0.8, 0.8);
      int firm = random.nextInt(FIRMS);
      double tenure = random.nextInt(10);
      for (int year = 0; year < YEARS; year++) {
        boolean moves = random.nextInt(5) == 0;
        firm = moves ? random.nextInt(FIRMS) : firm;
        tenure = moves ? 0 : tenure + 1;
        double days = training[firm][year];
        double wage =
            3 + 0.02 * tenure + 0.01 * days + effect + firmEffect[firm] + luck[firm][year];
        double own = random.nextDouble(-0.6, 0.6);
        rows.add(RowFactory.create(worker, firm, year, tenure, days, wage + own));
      }
    }
    return rows;
  }
}
