/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.ml.SparseQRRegressionModel;
import io.sparqr.spark.ml.SparseQRRegressionSummary;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.feature.OneHotEncoder;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;

/**
 * Sparqr as a stage of a Spark ML pipeline: wages by hours and 5000 firms, with standard error, t
 * and p, where Spark's own exact solver stops at 4096 features. Builds on {@link OneHotRegression}.
 */
public final class MlRegression {

  private static final int FIRMS = 5000;
  private static final int STAFF = 4;

  private MlRegression() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(MlRegression::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    List<Row> rows = people();
    Dataset<Row> people =
        spark.createDataFrame(rows, StructType.fromDDL("firm DOUBLE, hours DOUBLE, wage DOUBLE"));
    Pipeline pipeline =
        new Pipeline()
            .setStages(
                new PipelineStage[] {
                  new OneHotEncoder().setInputCol("firm").setOutputCol("firmVector"),
                  new VectorAssembler()
                      .setInputCols(new String[] {"hours", "firmVector"})
                      .setOutputCol("features"),
                  new SparseQRRegression().setLabelCol("wage")
                });

    PipelineModel fitted = pipeline.fit(people);

    SparseQRRegressionModel model = (SparseQRRegressionModel) fitted.stages()[2];
    SparseQRRegressionSummary s = model.summary();
    double estimate = model.coefficients().apply(0);
    double error = s.coefficientStandardErrors()[0];
    double[] expected = withinFirms(rows);
    out.printf(
        "%d features, rank %d, %d degrees of freedom, r2 %.4f%n",
        model.numFeatures(), s.rank(), s.degreesOfFreedom(), s.r2());
    out.printf(
        "an hour is worth %.6f, standard error %.6f, t = %.1f, p = %.1e%n",
        estimate, error, s.tValues()[0], s.pValues()[0]);
    out.printf("by deviations from the firms' means %.6f, %.6f%n", expected[0], expected[1]);
    return s.rank() == FIRMS + 1
        && Example.close(estimate, expected[0])
        && Example.close(error, expected[1]);
  }

  private static List<Row> people() {
    SplittableRandom random = new SplittableRandom(9);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < FIRMS * STAFF; i++) {
      double firm = i % FIRMS;
      double hours = random.nextInt(20, 60);
      double luck = 20 * random.nextDouble() - 10;
      rows.add(RowFactory.create(firm, hours, 100 + firm % 37 + 2.5 * hours + luck));
    }
    return rows;
  }

  /** Slope and standard error of wage on hours within firms (Frisch, Waugh and Lovell). */
  private static double[] withinFirms(List<Row> rows) {
    double[] hours = new double[FIRMS];
    double[] wage = new double[FIRMS];
    for (Row r : rows) {
      hours[(int) r.getDouble(0)] += r.getDouble(1) / STAFF;
      wage[(int) r.getDouble(0)] += r.getDouble(2) / STAFF;
    }
    double hh = 0;
    double hw = 0;
    double ww = 0;
    for (Row r : rows) {
      double h = r.getDouble(1) - hours[(int) r.getDouble(0)];
      double w = r.getDouble(2) - wage[(int) r.getDouble(0)];
      hh += h * h;
      hw += h * w;
      ww += w * w;
    }
    double freedom = rows.size() - FIRMS - 1;
    return new double[] {hw / hh, Math.sqrt((ww - hw / hh * hw) / freedom / hh)};
  }
}
