/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The linear regressions of NIST's Statistical Reference Datasets. */
public enum NistSet {
  Norris(1, true),
  Pontius(2, true),
  NoInt1(1, false),
  NoInt2(1, false),
  Filip(10, true),
  Longley(1, true),
  Wampler1(5, true),
  Wampler2(5, true),
  Wampler3(5, true),
  Wampler4(5, true),
  Wampler5(5, true);

  private final int degree;
  private final boolean intercept;

  NistSet(int degree, boolean intercept) {
    this.degree = degree;
    this.intercept = intercept;
  }

  /** A data set: design with the ones last, labels, certified values with the intercept last. */
  public record Problem(
      double[][] a, double[] b, double[] estimate, double[] error, double deviation, double r2) {}

  /** Whether the last column is one of ones. */
  public boolean intercept() {
    return intercept;
  }

  /** Reads it and its certified values. */
  public Problem read(Path folder) throws IOException {
    var a = new ArrayList<double[]>();
    var b = new ArrayList<Double>();
    List<String> lines = Files.readAllLines(folder.resolve(name() + ".csv"));
    for (String line : lines.subList(1, lines.size())) {
      String[] f = line.split(",");
      int columns = Math.max(f.length - 1, degree);
      var row = new double[columns + (intercept ? 1 : 0)];
      for (int j = 0; j < columns; j++) {
        row[j] =
            degree > 1 ? Math.pow(Double.parseDouble(f[1]), j + 1) : Double.parseDouble(f[j + 1]);
      }
      if (intercept) {
        row[columns] = 1;
      }
      a.add(row);
      b.add(Double.parseDouble(f[0]));
    }
    var estimate = new ArrayList<Double>();
    var error = new ArrayList<Double>();
    for (String line : Files.readAllLines(folder.resolve("certified.tsv"))) {
      String[] f = line.split("\t");
      if (f[0].equals(name())) {
        estimate.add(Double.parseDouble(f[5]));
        error.add(Double.parseDouble(f[6]));
      }
    }
    if (intercept) {
      estimate.add(estimate.remove(0));
      error.add(error.remove(0));
    }
    String[] summary =
        Files.readAllLines(folder.resolve("certified_summary.tsv")).stream()
            .map(line -> line.split("\t"))
            .filter(f -> f[0].equals(name()))
            .findFirst()
            .orElseThrow();
    return new Problem(
        a.toArray(double[][]::new),
        array(b),
        array(estimate),
        array(error),
        Double.parseDouble(summary[5]),
        Double.parseDouble(summary[6]));
  }

  private static double[] array(List<Double> list) {
    return list.stream().mapToDouble(Double::doubleValue).toArray();
  }
}
