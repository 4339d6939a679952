/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.IndexBase;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.input.MatrixFormat;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Whole solves by AUTO beside each fixed order, without Spark: {@code AutoRegret BACKEND ROUNDS
 * SECONDS MATRIX...}. All orders take turns in one JVM, each round from another one on, so that
 * what differs from JVM to JVM differs for none of them; the first two rounds warm up. A matrix is
 * a file or a specification of the gallery, and is transposed if it has more columns than rows. An
 * order whose solve takes more than SECONDS takes part once. Prints median and least seconds of
 * each order, the order that AUTO took, and what it lost by the medians beside the best fixed one;
 * LOSES where that is more than 5% and more than 20 ms.
 */
public final class AutoRegret {

  private static final List<OrderingMethod> ORDERS =
      List.of(
          OrderingMethod.AUTO,
          OrderingMethod.AMD,
          OrderingMethod.COLAMD,
          OrderingMethod.NESTED_DISSECTION);

  private static final int WARM = 2;

  private AutoRegret() {}

  /** See the class. */
  public static void main(String[] args) throws IOException {
    var backend = BackendChoice.valueOf(args[0].toUpperCase(Locale.ROOT));
    int rounds = Integer.parseInt(args[1]);
    double most = Double.parseDouble(args[2]);
    System.out.printf(Locale.ROOT, "%d processors%n", Runtime.getRuntime().availableProcessors());
    for (String name : Arrays.asList(args).subList(3, args.length)) {
      System.out.println(line(name, matrix(name), backend, rounds, most));
    }
  }

  private static CsrMatrix matrix(String name) throws IOException {
    CsrMatrix a =
        LocalProblem.readMatrix(
            new LocalProblem.Source(name, format(name), IndexBase.INFERRED, null));
    return a.rows() < a.columns() ? a.transpose() : a;
  }

  private static MatrixFormat format(String name) {
    return name.startsWith("gen:") ? MatrixFormat.GALLERY : MatrixFormat.MATRIX_MARKET;
  }

  private static String line(
      String name, CsrMatrix a, BackendChoice backend, int rounds, double most) {
    var problem = new LocalProblem(a, new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a)));
    var rows = DriverRows.local(problem, Runtime.getRuntime().availableProcessors());
    List<List<Double>> seconds = new ArrayList<>();
    ORDERS.forEach(order -> seconds.add(new ArrayList<>()));
    String taken = "";
    for (int round = 0; round < WARM + rounds; round++) {
      for (int k = 0; k < ORDERS.size(); k++) {
        int at = (round + k) % ORDERS.size();
        List<Double> mine = seconds.get(at);
        if (!mine.isEmpty() && mine.get(mine.size() - 1) > most) {
          continue;
        }
        SparseQRSolver solver =
            GpuSparseQR.builder().backend(backend).ordering(ORDERS.get(at)).build();
        long begin = System.nanoTime();
        LeastSquaresSolution x = Pipeline.solve(rows, solver.options(), ProgressListener.NONE);
        mine.add((System.nanoTime() - begin) * 1e-9);
        taken = at == 0 ? x.report().analysis().ordering() : taken;
      }
    }
    var text = new StringBuilder(name.substring(name.lastIndexOf('/') + 1)).append(" |");
    double best = Double.POSITIVE_INFINITY;
    double auto = 0;
    for (int k = 0; k < ORDERS.size(); k++) {
      double[] times = timed(seconds.get(k));
      double median = times[(times.length - 1) / 2];
      auto = k == 0 ? median : auto;
      best = k == 0 ? best : Math.min(best, median);
      String label = k == 0 ? "auto (" + taken + ")" : ORDERS.get(k).label();
      text.append(String.format(Locale.ROOT, " %s %.3f (%.3f) |", label, median, times[0]));
    }
    boolean loses = auto > 1.05 * best && auto > best + 0.02;
    return String.format(
        Locale.ROOT,
        "%s %+.0f ms, %+.1f%%%s",
        text,
        1e3 * (auto - best),
        100 * (auto / best - 1),
        loses ? " LOSES" : "");
  }

  /** The runs after the warm ones, ascending; the last one of an order that was too slow. */
  private static double[] timed(List<Double> all) {
    int from = Math.min(WARM, all.size() - 1);
    return all.subList(from, all.size()).stream().mapToDouble(s -> s).sorted().toArray();
  }
}
