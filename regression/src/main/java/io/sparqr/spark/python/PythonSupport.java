/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.python;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.design.formula.Formula;
import io.sparqr.spark.design.formula.Variable;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.inference.Prediction;
import io.sparqr.spark.model.RowColumns;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Calls for Py4J, for which an array of doubles takes one round trip per element, but an array of
 * bytes a single one.
 */
public final class PythonSupport {

  /** Elements of one message: Py4J sends bytes as base64 in one string. */
  private static final int MOST = 1 << 24;

  private PythonSupport() {}

  /** Number of messages for an array. */
  public static int parts(double[] values) {
    return values.length == 0 ? 0 : 1 + (values.length - 1) / MOST;
  }

  /** The part-th message of an array: IEEE 754 doubles, little endian. */
  public static byte[] bytes(double[] values, int part) {
    int from = Math.multiplyExact(part, MOST);
    double[] some = Arrays.copyOfRange(values, from, Math.min(values.length, from + MOST));
    ByteBuffer buffer = ByteBuffer.allocate(8 * some.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asDoubleBuffer().put(some);
    return buffer.array();
  }

  /** Number of messages for an array. */
  public static int parts(int[] values) {
    return values.length == 0 ? 0 : 1 + (values.length - 1) / MOST;
  }

  /** The part-th message of an array: int32, little endian. */
  public static byte[] bytes(int[] values, int part) {
    int from = Math.multiplyExact(part, MOST);
    int[] some = Arrays.copyOfRange(values, from, Math.min(values.length, from + MOST));
    ByteBuffer buffer = ByteBuffer.allocate(4 * some.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asIntBuffer().put(some);
    return buffer.array();
  }

  /** A matrix as one array, row by row. */
  public static double[] flat(double[][] rows) {
    return Arrays.stream(rows).flatMapToDouble(Arrays::stream).toArray();
  }

  /**
   * The variables of a formula: role, name, function and column of each. The role is response,
   * offset, or the numbers of the absorbed terms that contain the variable, such as {@code 0,2}, or
   * empty.
   *
   * @param columns the columns for a dot in the formula
   * @throws IllegalArgumentException if it cannot be read
   */
  public static List<List<String>> variables(String formula, List<String> columns) {
    Formula parsed = Formula.parse(formula, columns);
    var all = new ArrayList<List<String>>();
    if (parsed.response() != null) {
      all.add(variable("response", parsed.response()));
    }
    for (int v = 0; v < parsed.variables().size(); v++) {
      int index = v;
      String terms =
          IntStream.range(0, parsed.absorbed().size())
              .filter(t -> parsed.absorbed().get(t).variables().contains(index))
              .mapToObj(Integer::toString)
              .collect(Collectors.joining(","));
      all.add(variable(terms, parsed.variables().get(v)));
    }
    parsed.offsets().forEach(v -> all.add(variable("offset", v)));
    return all;
  }

  private static List<String> variable(String role, Variable v) {
    return List.of(role, v.name(), v.function().name(), v.column());
  }

  /**
   * Predictions for new rows: for each right-hand side the fits, then the standard errors of the
   * means, then those of observations with the rows' weights. As {@link Inference#predict}.
   *
   * @return 3 k values for each row, k right-hand sides: all rows of the first group first
   */
  public static double[] predictions(QRFactorization factorization, List<SparseRow> rows) {
    Inference first = Inference.of(factorization);
    int rhs = factorization.solve().rhsCount();
    double[] told = new double[Math.multiplyExact(3 * rhs, rows.size())];
    for (int k = 0; k < rhs; k++) {
      List<Prediction> found = first.ofRightHandSide(k).predict(rows);
      int at = 3 * k * rows.size();
      for (int i = 0; i < rows.size(); i++) {
        Prediction p = found.get(i);
        told[at + i] = p.fit();
        told[at + rows.size() + i] = p.standardError();
        told[at + 2 * rows.size() + i] = p.observationError();
      }
    }
    return told;
  }

  /**
   * Vectors of one length, sent as bytes.
   *
   * @param bytes IEEE 754 doubles, little endian, one vector after the other
   * @param count of vectors, at least 1
   */
  public static double[][] vectors(byte[] bytes, int count) {
    var values = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer();
    double[][] made = new double[count][values.remaining() / count];
    for (double[] vector : made) {
      values.get(vector);
    }
    return made;
  }

  /** The report's page; empty if no profile was requested. */
  public static String page(SolveReport report) {
    return report.profile().any() ? report.toHtml() : "";
  }

  /**
   * A builder with options.
   *
   * @param options each as name=value, with the names of {@link GpuSparseQR.Builder}
   * @throws IllegalArgumentException for an unknown option or an invalid value
   */
  public static GpuSparseQR.Builder builder(List<String> options) {
    var builder = GpuSparseQR.builder();
    for (String option : options) {
      int at = option.indexOf('=');
      if (at < 1) {
        throw new IllegalArgumentException(
            "option \"" + option + "\" is not of the form name=value");
      }
      builder.option(option.substring(0, at), option.substring(at + 1));
    }
    return builder;
  }

  /**
   * The columns of a Dataset.
   *
   * @param weight empty: all weights are 1
   */
  public static RowColumns columns(String features, String weight, List<String> labels) {
    return RowSource.columns(features, weight, labels.toArray(new String[0]));
  }
}
