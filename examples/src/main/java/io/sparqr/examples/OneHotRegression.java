/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.feature.OneHotEncoder;
import org.apache.spark.ml.feature.StringIndexer;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;

/**
 * Categories from a DataFrame: Spark ML's encoders make the sparse vectors, Sparqr fits them
 * exactly, however many levels there are. Builds on {@link HelloLeastSquares}.
 */
public final class OneHotRegression {

  private static final int CITIES = 40;
  private static final int JOBS = 7;

  private OneHotRegression() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(OneHotRegression::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    Dataset<Row> people = people(spark, 3000);
    // All levels of the first factor, which replace the intercept, and all but one of the second.
    Dataset<Row> encoded =
        new Pipeline()
            .setStages(
                new PipelineStage[] {
                  new StringIndexer()
                      .setInputCols(new String[] {"city", "job"})
                      .setOutputCols(new String[] {"cityIndex", "jobIndex"}),
                  new OneHotEncoder()
                      .setInputCol("cityIndex")
                      .setOutputCol("cityVector")
                      .setDropLast(false),
                  new OneHotEncoder().setInputCol("jobIndex").setOutputCol("jobVector"),
                  new VectorAssembler()
                      .setInputCols(new String[] {"hours", "cityVector", "jobVector"})
                      .setOutputCol("features")
                })
            .fit(people)
            .transform(people);

    LeastSquaresSolution s = GpuSparseQR.solve(encoded);

    out.printf("%d coefficients, rank %d%n", s.x().length, s.rank());
    out.printf("an hour is worth %.6f, residual norm %.1e%n", s.x()[0], s.residualNorm());
    return s.x().length == 1 + CITIES + JOBS - 1
        && s.rank() == s.x().length
        && Example.close(s.x()[0], 2.5)
        && s.residualNorm() < 1e-8;
  }

  private static Dataset<Row> people(SparkSession spark, int count) {
    SplittableRandom random = new SplittableRandom(5);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int city = i < CITIES ? i : random.nextInt(CITIES);
      int job = i < JOBS ? i : random.nextInt(JOBS);
      double hours = random.nextInt(20, 60);
      rows.add(
          RowFactory.create(
              "city" + city, "job" + job, hours, 100 * city + job * job + 2.5 * hours));
    }
    return spark.createDataFrame(
        rows,
        org.apache.spark.sql.types.StructType.fromDDL(
            "city STRING, job STRING, hours DOUBLE, label DOUBLE"));
  }
}
