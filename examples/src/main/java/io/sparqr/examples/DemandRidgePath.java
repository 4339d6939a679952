/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.design.Design;
import io.sparqr.spark.design.DesignOptions;
import io.sparqr.spark.design.DesignRows;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;

/**
 * Demand: every product has its own price elasticity and its own effect of promotions, more
 * parameters than the data support. A ridge on the interactions alone draws them towards those of
 * the product that sells best. One factorization serves many ridges, and the one that predicts
 * later weeks best is chosen. Builds on {@link WeightedRidge}.
 */
public final class DemandRidgePath {

  private static final int PRODUCTS = 60;
  private static final int STORES = 12;
  private static final int WEEKS = 16;
  private static final int RIDGES = 10;
  private static final String FORMULA =
      "log(quantity) ~ log(price) + promotion + product + store"
          + " + product:log(price) + product:promotion";

  private DemandRidgePath() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(DemandRidgePath::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    Dataset<Row> sales =
        spark.createDataFrame(
            sales(),
            StructType.fromDDL(
                "week INT, product STRING, store STRING, price DOUBLE, promotion DOUBLE,"
                    + " quantity DOUBLE"));
    Dataset<Row> before = sales.where("week < 12");
    Dataset<Row> after = sales.where("week >= 12");
    Design design =
        Design.of(
            before,
            DesignOptions.builder().formula(FORMULA).references(Map.of("product", "best")).build());
    // Main effects and the intercept are not penalized; only a product's own effects are drawn to
    // zero.
    double[] penalty = new double[design.columns()];
    for (int j = 0; j < penalty.length; j++) {
      penalty[j] = design.name(j).contains(":") ? 1 : 0;
    }
    double[] lambdas =
        IntStream.range(0, RIDGES)
            .mapToDouble(k -> Math.pow(10, -3 + 7.0 * k / (RIDGES - 1)))
            .toArray();

    List<LeastSquaresSolution> path;
    List<SparseRow> fitted;
    List<SparseRow> held;
    try (DesignRows rows = design.rows(before).keep();
        DesignRows later = design.rows(after)) {
      path = GpuSparseQR.builder().ridge(penalty).build().ridgePath(rows.rows(), lambdas);
      fitted = rows.rows().collect();
      held = later.rows().collect();
    }

    int best = 0;
    double[] errors = new double[RIDGES];
    boolean right = true;
    for (int k = 0; k < RIDGES; k++) {
      double[] x = path.get(k).x();
      errors[k] = rootMeanSquare(held, x);
      best = errors[k] < errors[best] ? k : best;
      right &= isMinimum(fitted, x, penalty, lambdas[k]);
      right &= k == 0 || size(x, penalty) < size(path.get(k - 1).x(), penalty);
    }
    out.printf("%d sales, %d coefficients%n", fitted.size(), design.columns());
    out.println("    lambda   own effects   error in later weeks");
    for (int k : new int[] {0, best, RIDGES - 1}) {
      double own = size(path.get(k).x(), penalty);
      out.printf("%10.3g %13.3f %22.5f%n", lambdas[k], own, errors[k]);
    }
    double[] x = path.get(best).x();
    out.printf(
        "elasticity of the best seller %.2f, of product p7 %.2f%n",
        x[design.names().indexOf("log(price)")],
        x[design.names().indexOf("log(price)")] + x[interaction(design, "p7")]);
    return right && best > 0 && best < RIDGES - 1;
  }

  private static int interaction(Design design, String product) {
    List<String> names = design.names();
    return IntStream.range(0, names.size())
        .filter(j -> List.of(names.get(j).split(":")).contains("product" + product))
        .filter(j -> names.get(j).contains(":log(price)") || names.get(j).contains("log(price):"))
        .findFirst()
        .orElseThrow();
  }

  /** Whether A'(b - Ax) = lambda D x, the ridge's normal equations, entry by entry. */
  private static boolean isMinimum(
      List<SparseRow> rows, double[] x, double[] penalty, double lambda) {
    double[] gradient = new double[x.length];
    double[] terms = new double[x.length];
    for (SparseRow r : rows) {
      double residual = r.labels()[0] - dot(r, x);
      for (int e = 0; e < r.indices().length; e++) {
        gradient[r.indices()[e]] += r.values()[e] * residual;
        terms[r.indices()[e]] += Math.abs(r.values()[e] * r.labels()[0]);
      }
    }
    boolean zero = true;
    for (int j = 0; j < x.length; j++) {
      zero &= Math.abs(gradient[j] - lambda * penalty[j] * x[j]) <= 1e-10 * terms[j];
    }
    return zero;
  }

  private static double size(double[] x, double[] penalty) {
    double norm = 0;
    for (int j = 0; j < x.length; j++) {
      norm = Math.hypot(norm, penalty[j] * x[j]);
    }
    return norm;
  }

  private static double rootMeanSquare(List<SparseRow> rows, double[] x) {
    double sum = 0;
    for (SparseRow r : rows) {
      sum += Math.pow(r.labels()[0] - dot(r, x), 2);
    }
    return Math.sqrt(sum / rows.size());
  }

  private static double dot(SparseRow row, double[] x) {
    double sum = 0;
    for (int e = 0; e < row.indices().length; e++) {
      sum += row.values()[e] * x[row.indices()[e]];
    }
    return sum;
  }

  /** The best seller is in every store and week, of the others a few sales each. */
  private static List<Row> sales() {
    SplittableRandom random = new SplittableRandom(23);
    double[] elasticity = random.doubles(PRODUCTS, -2.4, -1.6).toArray();
    double[] promoted = random.doubles(PRODUCTS, 0.1, 0.5).toArray();
    double[] level = random.doubles(PRODUCTS, 2, 4).toArray();
    double[] size = random.doubles(STORES, -0.5, 0.5).toArray();
    List<Row> rows = new ArrayList<>();
    for (int week = 0; week < WEEKS; week++) {
      for (int store = 0; store < STORES; store++) {
        for (int p = 0; p < PRODUCTS; p++) {
          if (p > 0 && random.nextInt(6) > 0) {
            continue;
          }
          double price = random.nextDouble(1.5, 3);
          double promotion = random.nextInt(4) == 0 ? 1 : 0;
          double log =
              level[p]
                  + size[store]
                  + elasticity[p] * Math.log(price)
                  + promoted[p] * promotion
                  + random.nextDouble(-1, 1);
          String name = p == 0 ? "best" : "p" + p;
          rows.add(RowFactory.create(week, name, "s" + store, price, promotion, Math.exp(log)));
        }
      }
    }
    return rows;
  }
}
