/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random designs of regressions: dummies of factors (nested, crossed, panels, levels of one
 * observation, all levels or all but the last), covariates, duplicates, sums, multiples, similar
 * and zero columns, weights with zeros, columns in units from 1e-200 to 1e200. None has nearly
 * dependent columns, because beside dependent ones these would make the rank ambiguous.
 */
public final class Designs {

  private Designs() {}

  /**
   * A design.
   *
   * @param a m x n without the intercept's ones, not weighted
   * @param y labels
   * @param w weights, zeros among them
   * @param intercept whether there is one
   * @param ridge lambda of lambda ||b||^2, not on the intercept
   */
  public record Design(double[][] a, double[] y, double[] w, boolean intercept, double ridge) {

    /** Columns with the ones. */
    public int columns() {
      return a[0].length + (intercept ? 1 : 0);
    }

    /** Rows of positive weight times sqrt(weight) with the ones, then ridge rows. */
    public double[][] weighted() {
      int features = a[0].length;
      var rows = new ArrayList<double[]>();
      for (int i = 0; i < a.length; i++) {
        if (w[i] > 0) {
          double[] row = new double[columns()];
          for (int j = 0; j < columns(); j++) {
            row[j] = (j < features ? a[i][j] : 1) * Math.sqrt(w[i]);
          }
          rows.add(row);
        }
      }
      for (int j = 0; ridge > 0 && j < features; j++) {
        double[] row = new double[columns()];
        row[j] = Math.sqrt(ridge);
        rows.add(row);
      }
      return rows.toArray(double[][]::new);
    }

    /** Labels of {@link #weighted}. */
    public double[] weightedLabels() {
      double[] b = new double[weighted().length];
      int k = 0;
      for (int i = 0; i < y.length; i++) {
        if (w[i] > 0) {
          b[k++] = y[i] * Math.sqrt(w[i]);
        }
      }
      return b;
    }

    /** Rows of positive weight. */
    public int instances() {
      int count = 0;
      for (double v : w) {
        count += v > 0 ? 1 : 0;
      }
      return count;
    }
  }

  /** One of them. */
  public static Design random(Random random) {
    int m = 4 + random.nextInt(30);
    List<double[]> columns = new ArrayList<>();
    if (random.nextInt(3) == 0) {
      panel(columns, m, random);
    } else {
      factors(columns, m, random);
    }
    for (int k = random.nextInt(3); k > 0; k--) {
      boolean whole = random.nextBoolean();
      double[] v = new double[m];
      for (int i = 0; i < m; i++) {
        v[i] = whole ? random.nextInt(7) - 3 : random.nextGaussian();
      }
      columns.add(v);
    }
    if (columns.isEmpty()) {
      columns.add(dummy(random.ints(m, 0, 2).toArray(), 0));
    }
    dependent(columns, m, random);
    java.util.Collections.shuffle(columns, random);
    int units = random.nextInt(4);
    double[][] a = new double[m][columns.size()];
    double[] y = new double[m];
    for (int j = 0; j < columns.size(); j++) {
      double unit = unit(units, random);
      for (int i = 0; i < m; i++) {
        a[i][j] = columns.get(j)[i] * unit;
      }
    }
    double scale = random.nextInt(10) == 0 ? Math.pow(10, random.nextInt(361) - 180) : 1;
    // coefficients of 1e180 / 1e-200 overflow
    scale = units == 1 ? 1 : scale;
    for (int i = 0; i < m; i++) {
      y[i] = (random.nextInt(21) - 10 + random.nextGaussian()) * scale;
    }
    double ridge = random.nextInt(4) == 0 ? Math.pow(10, random.nextInt(5) - 3) : 0;
    return new Design(a, y, weights(m, random), random.nextInt(3) > 0, ridge);
  }

  private static double unit(int units, Random random) {
    return switch (units) {
      case 0 -> Math.pow(10, random.nextInt(17) - 8);
      case 1 -> random.nextInt(3) == 0 ? Math.pow(10, random.nextBoolean() ? 200 : -200) : 1;
      default -> 1;
    };
  }

  private static double[] weights(int m, Random random) {
    double[] w = new double[m];
    int kind = random.nextInt(3);
    for (int i = 0; i < m; i++) {
      w[i] = kind == 0 ? 1 : 0.1 + 4 * random.nextDouble();
      if (kind == 2 && i > 1 && random.nextInt(4) == 0) {
        w[i] = 0;
      }
    }
    return w;
  }

  private static void factors(List<double[]> columns, int m, Random random) {
    boolean dropLast = random.nextBoolean();
    int[] before = null;
    int levelsBefore = 1;
    for (int count = 1 + random.nextInt(3); count > 0; count--) {
      int levels = 2 + random.nextInt(Math.max(2, m / 3));
      int kind = random.nextInt(4);
      int[] level = new int[m];
      for (int i = 0; i < m; i++) {
        // squares: many levels of one observation beside large ones
        double u = random.nextDouble();
        level[i] = (int) (u * u * levels);
        if (kind == 0 && before != null) {
          level[i] = before[i] % levels;
        } else if (kind == 1 && before != null) {
          level[i] = before[i] * 2 + random.nextInt(2);
        }
      }
      if (kind == 0 && before != null) {
        levels = Math.min(levels, levelsBefore);
      } else if (kind == 1 && before != null) {
        levels = 2 * levelsBefore;
      }
      for (int l = 0; l < (dropLast ? levels - 1 : levels); l++) {
        columns.add(dummy(level, l));
      }
      before = level;
      levelsBefore = levels;
    }
  }

  /** Factors of persons, places and times: few observations for each level. */
  private static void panel(List<double[]> columns, int m, Random random) {
    boolean dropLast = random.nextBoolean();
    for (int levels : new int[] {1 + m / 2, 1 + m / 3, 1 + random.nextInt(4)}) {
      int[] level = random.ints(m, 0, levels).toArray();
      for (int l = 0; l < (dropLast ? levels - 1 : levels); l++) {
        columns.add(dummy(level, l));
      }
    }
  }

  private static double[] dummy(int[] level, int l) {
    double[] v = new double[level.length];
    for (int i = 0; i < v.length; i++) {
      v[i] = level[i] == l ? 1 : 0;
    }
    return v;
  }

  private static void dependent(List<double[]> columns, int m, Random random) {
    for (int k = random.nextInt(3); k > 0; k--) {
      double[] u = columns.get(random.nextInt(columns.size()));
      double[] v = columns.get(random.nextInt(columns.size()));
      int kind = random.nextInt(5);
      double[] made = new double[m];
      double off = Math.scalb(1.0, -4 - random.nextInt(4));
      for (int i = 0; i < m; i++) {
        made[i] =
            switch (kind) {
              case 0 -> u[i];
              case 1 -> 0;
              case 2 -> u[i] + v[i];
              case 3 -> -3 * u[i];
              default -> u[i] == 0 ? 0 : u[i] + off * (random.nextInt(5) - 2);
            };
      }
      columns.add(made);
    }
  }
}
