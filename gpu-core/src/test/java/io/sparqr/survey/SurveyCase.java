/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.matrix.LabeledMatrix;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A problem of the survey by name, {@code NAME[:OPTION...][@ORDER]}: the same matrix and the same
 * right-hand side on every machine.
 *
 * <table>
 *   <caption>Names</caption>
 *   <tr><td>a specification of {@link Gallery}</td><td></td></tr>
 *   <tr><td>{@code dense:MxN}</td><td>all entries there</td></tr>
 *   <tr><td>{@code blocks:BxMxNxC}, {@code stairs:BxMxNxC}</td><td>B dense blocks of M rows and N
 *     columns with C columns common to all; every block a staircase</td></tr>
 *   <tr><td>{@code band:MxNxW}, {@code sparse:MxNxP}</td><td>W entries a row side by side; P a row
 *     near the diagonal and one anywhere</td></tr>
 *   <tr><td>a file {@code .mtx[.gz]} or {@code .svm[.gz]}</td><td>tall way up; labels are b</td></tr>
 * </table>
 *
 * <p>Options: {@code rand} random values on the pattern; {@code seed=S} (default 1); {@code
 * dependent=K} K columns that are combinations of others; {@code units=PxE} P percent of the
 * columns times 2^k, |k| at most E; {@code raw} columns are not equilibrated; {@code norank} no
 * rank detection; {@code consistent} b = A y, else the residual is about as long as A y.
 *
 * @param name without options
 * @param options by name; a flag's value is ""
 * @param order of the columns
 */
record SurveyCase(String name, SortedMap<String, String> options, OrderingMethod order) {

  private static final Set<String> FLAGS = Set.of("rand", "raw", "norank", "consistent");
  private static final Set<String> VALUES = Set.of("seed", "dependent", "units");

  /**
   * What is to be solved.
   *
   * @param b size m
   * @param mostRank no larger rank is possible
   */
  record Instance(CsrMatrix a, double[] b, int mostRank) {}

  /** Reads a name; an unknown option is an error. */
  static SurveyCase parse(String text) {
    int end = text.lastIndexOf('@');
    String order = end < 0 ? "auto" : text.substring(end + 1);
    String[] part = (end < 0 ? text : text.substring(0, end)).split(":");
    boolean sized = part.length > 1 && part[0].matches("dense|blocks|stairs|band|sparse");
    var options = new TreeMap<String, String>();
    for (int k = sized ? 2 : 1; k < part.length; k++) {
      String[] option = part[k].split("=", 2);
      if (!(option.length == 1 ? FLAGS : VALUES).contains(option[0])) {
        throw new IllegalArgumentException("no option " + part[k] + " in " + text);
      }
      options.put(option[0], option.length == 1 ? "" : option[1]);
    }
    String name = sized ? part[0] + ":" + part[1] : part[0];
    return new SurveyCase(name, options, OrderingMethod.parse(order));
  }

  /** Whether a flag is among the options. */
  boolean is(String flag) {
    return options.containsKey(flag);
  }

  private int number(String option, int otherwise) {
    return Integer.parseInt(options.getOrDefault(option, "" + otherwise));
  }

  private long seed() {
    return Long.parseLong(options.getOrDefault("seed", "1"));
  }

  /** Without the order. */
  String problem() {
    var text = new StringBuilder(name);
    options.forEach((k, v) -> text.append(':').append(k).append(v.isEmpty() ? "" : "=" + v));
    return text.toString();
  }

  /** What {@link #parse} reads. */
  @Override
  public String toString() {
    return problem() + "@" + order.label();
  }

  private boolean isFile() {
    return name.matches(".*\\.(mtx|svm)(\\.gz)?");
  }

  /** Makes the matrix and the right-hand side. */
  Instance generate() {
    var random = new SplitMix(seed());
    CsrMatrix a;
    double[] labels = null;
    try {
      if (name.matches(".*\\.svm(\\.gz)?")) {
        LabeledMatrix labeled = Libsvm.read(Path.of(name));
        a = labeled.matrix();
        labels = labeled.labels();
      } else if (isFile()) {
        CsrMatrix read = MatrixMarket.readMatrix(Path.of(name));
        a = read.rows() < read.columns() ? read.transpose() : read;
      } else {
        a = generated(random);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (is("rand")) {
      a = Gallery.randomValues(a, seed());
    }
    int rank = Math.min(a.rows(), a.columns() - empty(a));
    if (number("dependent", 0) > 0) {
      a = Matrices.dependent(a, number("dependent", 0), random);
    }
    if (is("units")) {
      String[] units = options.get("units").split("x");
      a = Matrices.units(a, Integer.parseInt(units[0]), Integer.parseInt(units[1]), random);
    }
    return new Instance(a, labels == null ? rightHandSide(a, random) : labels, rank);
  }

  private CsrMatrix generated(SplitMix random) {
    String[] part = name.split(":");
    if (part.length == 1) {
      return Gallery.generate(Gallery.PREFIX + name + ":seed=" + seed());
    }
    int[] s = Arrays.stream(part[1].split("x")).mapToInt(Integer::parseInt).toArray();
    return switch (part[0]) {
      case "dense" -> Matrices.blocks(1, s[0], s[1], 0, false, random);
      case "blocks" -> Matrices.blocks(s[0], s[1], s[2], s[3], false, random);
      case "stairs" -> Matrices.blocks(s[0], s[1], s[2], s[3], true, random);
      case "band" -> Matrices.band(s[0], s[1], s[2], random);
      case "sparse" -> Matrices.sparse(s[0], s[1], s[2], random);
      default -> throw new IllegalArgumentException("no problem " + name);
    };
  }

  private static int empty(CsrMatrix a) {
    double[] norm = Tolerances.columnNorms(a);
    return (int) Arrays.stream(norm).filter(x -> x == 0).count();
  }

  /** b = A y + p, y_j = +-[0.5, 1.5) / ||a_j||, ||p|| about ||A y|| or 0. */
  private double[] rightHandSide(CsrMatrix a, SplitMix random) {
    double[] norm = Tolerances.columnNorms(a);
    double[] y = new double[a.columns()];
    for (int j = 0; j < y.length; j++) {
      double v = random.value();
      y[j] = norm[j] == 0 ? 0 : v / norm[j];
    }
    double[] b = a.multiply(y);
    // uniform in [-1, 1): squares of 1/3
    double size = is("consistent") ? 0 : Compensated.norm(b) / Math.sqrt(b.length / 3.0);
    for (int i = 0; i < b.length && size > 0; i++) {
      b[i] += size * (2 * random.uniform() - 1);
    }
    return b;
  }
}
