/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.WorkerPanel;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Solves a panel in a driver process of its own, with a small heap, and with two executors whose
 * tasks generate the rows. Prints {@code refused NEED HAVE MESSAGE} or {@code solved RANK ERROR}.
 */
final class DriverHeap {

  private DriverHeap() {}

  /** WORKERS FIRMS YEARS. */
  public static void main(String[] args) throws IOException {
    var panel =
        new WorkerPanel(
            Integer.parseInt(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]), 1);
    SparkConf conf =
        LocalCluster.conf("sparqr in a small heap", 2, 1)
            // Spark refuses heaps of less than 450 MB
            .set("spark.testing.memory", "600000000")
            .set("spark.executor.memory", "700m");
    try (var context = new JavaSparkContext(conf)) {
      context.setLogLevel("OFF");
      JavaRDD<SparseRow> rows =
          context
              .parallelize(IntStream.range(0, 8).boxed().toList(), 8)
              .mapPartitionsWithIndex((p, it) -> rows(panel, p, 8), true);
      LeastSquaresSolution s = GpuSparseQR.builder().backend(BackendChoice.CPU).solve(rows);
      System.out.println("solved " + s.rank() + " " + error(panel, s.x()));
    } catch (InsufficientMemoryException e) {
      System.out.println(
          "refused " + e.requiredBytes() + " " + e.availableBytes() + " " + e.getMessage());
    }
  }

  private static double effect(int column) {
    return Math.sin(column);
  }

  private static Iterator<SparseRow> rows(WorkerPanel panel, int part, int parts) {
    int from = (int) ((long) panel.workers() * part / parts);
    int to = (int) ((long) panel.workers() * (part + 1) / parts);
    return IntStream.range(from, to).boxed().flatMap(w -> of(panel, w).stream()).iterator();
  }

  private static List<SparseRow> of(WorkerPanel panel, int w) {
    int[] firm = new int[panel.years()];
    panel.firms(w, firm);
    var rows = new ArrayList<SparseRow>();
    for (int f : firm) {
      int column = panel.workers() + f;
      rows.add(
          new SparseRow(new int[] {w, column}, new double[] {1, 1}, effect(w) + effect(column)));
    }
    return rows;
  }

  private static double error(WorkerPanel panel, double[] x) {
    double worst = 0;
    int[] firm = new int[panel.years()];
    for (int w = 0; w < panel.workers(); w++) {
      panel.firms(w, firm);
      for (int f : firm) {
        int column = panel.workers() + f;
        worst = Math.max(worst, Math.abs(x[w] + x[column] - effect(w) - effect(column)));
      }
    }
    return worst;
  }
}
