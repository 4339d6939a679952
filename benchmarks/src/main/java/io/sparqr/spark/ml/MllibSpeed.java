/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.regression.LinearRegression;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Seconds of whole fits beside MLlib, from a cached DataFrame of sparse vectors to coefficients and
 * standard errors: {@code MllibSpeed ROWS RUNS LEVELS...}, five numbers and one-hot factors of so
 * many levels, one level of each left out. MLlib's {@code normal} takes at most 4096 features, its
 * {@code l-bfgs} has no standard errors. Each line has the largest distance of a coefficient from
 * Sparqr's; Sparqr's distance from the truth is due to the noise.
 */
public final class MllibSpeed {

  private static final int NUMBERS = 5;
  private static final long SEED = 20261123;

  private MllibSpeed() {}

  private static Row row(long id, int[] levels) {
    var random = new Random(SEED + id * 0x9E3779B97F4A7C15L);
    int size = NUMBERS;
    for (int l : levels) {
      size += l - 1;
    }
    int[] index = new int[NUMBERS + levels.length];
    double[] value = new double[index.length];
    int count = 0;
    double y = random.nextGaussian();
    for (int j = 0; j < NUMBERS; j++) {
      index[count] = j;
      value[count] = random.nextGaussian();
      y += value[count++];
    }
    int first = NUMBERS;
    for (int l : levels) {
      int level = random.nextInt(l);
      if (level > 0) {
        index[count] = first + level - 1;
        value[count++] = 1;
        y += level % 7;
      }
      first += l - 1;
    }
    Vector features =
        Vectors.sparse(size, Arrays.copyOf(index, count), Arrays.copyOf(value, count));
    return RowFactory.create(y, features);
  }

  private static <T> T timed(String what, Supplier<T> action) {
    long wall = System.nanoTime();
    T result = action.get();
    System.out.printf(Locale.ROOT, "%-32s %7.2f s%n", what, (System.nanoTime() - wall) * 1e-9);
    return result;
  }

  private static double distance(Vector a, Vector b) {
    double most = 0;
    for (int j = 0; j < a.size(); j++) {
      most = Math.max(most, Math.abs(a.apply(j) - b.apply(j)));
    }
    return most;
  }

  /** See the class. */
  public static void main(String[] args) {
    long rows = Long.parseLong(args[0]);
    int[] levels = new int[args.length - 2];
    for (int k = 0; k < levels.length; k++) {
      levels[k] = Integer.parseInt(args[k + 2]);
    }
    SparkSession spark = RegressionSpeed.session();
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    var schema =
        new StructType(
            new StructField[] {
              DataTypes.createStructField("label", DataTypes.DoubleType, false),
              DataTypes.createStructField("features", SQLDataTypes.VectorType(), false)
            });
    Dataset<Row> data =
        spark
            .createDataFrame(
                spark.range(0, rows, 1, 2).javaRDD().map(id -> row(id, levels)), schema)
            .cache();
    Row first = data.first();
    System.out.printf(
        "%d rows, %d features, %d cores%n",
        data.count(), ((Vector) first.get(1)).size(), context.defaultParallelism());
    for (int k = 0; k < Integer.parseInt(args[1]); k++) {
      Vector exact =
          timed(
              "Sparqr, with all errors",
              () -> {
                var model = new SparseQRRegression().fit(data);
                model.summary().coefficientStandardErrors();
                return model.coefficients();
              });
      for (String solver : List.of("normal", "l-bfgs")) {
        if (solver.equals("normal") && exact.size() > 4096) {
          continue;
        }
        var model =
            timed(
                "MLlib " + solver,
                () -> new LinearRegression().setSolver(solver).setStandardization(false).fit(data));
        System.out.printf(
            Locale.ROOT,
            "  largest distance from Sparqr's coefficients %.2g%n",
            distance(exact, model.coefficients()));
      }
    }
    spark.stop();
  }
}
