/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Keeps factorizations, in a process of its own with a small heap, until R of all of them is larger
 * than that; then solves with each. Prints {@code kept MEMORY FILES LEFT SAME}, in bytes, the third
 * number after all are closed.
 */
final class MuchKept {

  private MuchKept() {}

  /** No arguments. */
  public static void main(String[] args) throws InterruptedException {
    SparkConf conf =
        new SparkConf()
            .setMaster("local[2]")
            .setAppName("sparqr keeps more than the heap")
            .set("spark.ui.enabled", "false")
            // Spark refuses heaps of less than 450 MB
            .set("spark.testing.memory", "600000000")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1");
    RowBudget budget = RowBudget.ofJvm();
    long most = Runtime.getRuntime().maxMemory() / 8 * 9;
    CsrMatrix a = Problems.random(2_500, 2_000, 20, 1);
    try (var context = new JavaSparkContext(conf)) {
      context.setLogLevel("OFF");
      var rows = context.parallelize(Problems.rows(a, Problems.rhs(a.rows(), 2)), 2);
      var kept = new ArrayList<QRFactorization>();
      while (budget.memoryBytes() + budget.fileBytes() < most) {
        kept.add(GpuSparseQR.builder().backend(BackendChoice.CPU).factorize(rows));
      }
      double[] x = kept.get(0).solve().x();
      boolean same = true;
      for (QRFactorization f : kept) {
        same &= Arrays.equals(f.solve().x(), x);
      }
      long memory = budget.memoryBytes();
      long files = budget.fileBytes();
      kept.forEach(QRFactorization::close);
      for (int k = 0; k < 100 && budget.memoryBytes() + budget.fileBytes() > 0; k++) {
        Thread.sleep(20);
      }
      long left = budget.memoryBytes() + budget.fileBytes();
      System.out.println("kept " + memory + " " + files + " " + left + " " + same);
    }
  }
}
