/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Seconds of whole solves by CPU executors, from rows that are on the executors to x on the driver:
 * what a second executor gains. {@code ExecutorSpeed MASTER PARTITIONS REPEAT PROBLEM...}, each
 * master in a JVM of its own; executors have {@code -Dexecutor.memory}, 3g. Prints the first run,
 * the median and the least, the phases of the median run, the seconds of its factorization that
 * were foretold, a hash of x's bits, and from one more run with a profile the tasks' times.
 *
 * <p>On a machine that others use, seconds say little. So the CPU seconds of every stage's tasks
 * are printed too, of the busiest executor and of all: with the driver's CPU seconds they tell what
 * the solve would take alone.
 */
public final class ExecutorSpeed {

  private ExecutorSpeed() {}

  /** See the class. */
  public static void main(String[] args) throws InterruptedException {
    int partitions = Integer.parseInt(args[1]);
    int repeat = Integer.parseInt(args[2]);
    try (JavaSparkContext context = new JavaSparkContext(SolveSpeed.conf(args[0], "3g"))) {
      context.setLogLevel("ERROR");
      var stages = new TaskTimes();
      context.sc().addSparkListener(stages);
      for (String problem : Arrays.asList(args).subList(3, args.length)) {
        CsrMatrix a = LocalProblem.generate("gen:" + problem);
        var labeled = new LocalProblem(a, new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a)));
        try (var rows = new DriverRows(context, labeled, partitions)) {
          measure(args[0], problem, rows, repeat, stages);
        }
      }
    }
  }

  private static void measure(
      String master, String name, DriverRows rows, int repeat, TaskTimes stages)
      throws InterruptedException {
    GpuSparseQR.Builder builder = GpuSparseQR.builder().backend(BackendChoice.CPU);
    var seconds = new double[repeat];
    for (int k = 0; k < repeat; k++) {
      stages.clear();
      long cpu = driverCpu();
      long clock = System.currentTimeMillis();
      long begin = System.nanoTime();
      LeastSquaresSolution x = builder.solve(rows.rows());
      seconds[k] = (System.nanoTime() - begin) * 1e-9;
      cpu = driverCpu() - cpu;
      SolveReport.Seconds s = x.report().seconds();
      System.out.printf(
          Locale.ROOT,
          "%s | %s | run %d: %.3f s | pattern %.3f order %.3f analyze %.3f plan %.3f rows %.3f"
              + " factorize %.3f solve %.3f | x %08x%n",
          master,
          name,
          k,
          seconds[k],
          s.pattern(),
          s.order(),
          s.analyze(),
          s.plan(),
          s.assemble(),
          s.factorize(),
          s.solve(),
          Arrays.hashCode(x.x()));
      Thread.sleep(500); // the listener is told later
      stages.print(cpu * 1e-9);
      if (k + 1 == repeat) {
        stages.printTimes(clock);
      }
    }
    double first = seconds[0];
    Arrays.sort(seconds);
    System.out.printf(
        Locale.ROOT,
        "%s | %s | first %.2f, median %.3f, least %.3f%n",
        master,
        name,
        first,
        seconds[(repeat - 1) / 2],
        seconds[0]);
    profile(builder.profile(true).solve(rows.rows()).report());
  }

  private static long driverCpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static void profile(SolveReport report) {
    SolveProfile profile = report.profile();
    for (SolveProfile.Phase p : profile.phases()) {
      System.out.printf(
          Locale.ROOT, "  %8.3f %8.3f %s: %s%n", p.begin(), p.end(), p.name(), p.detail());
    }
    for (SolveProfile.Task t : profile.tasks()) {
      System.out.printf(
          Locale.ROOT,
          "  %8.3f %8.3f task %d of level %d, %s: %d fronts, %.3g flops, foretold %.3f s%n",
          t.begin(),
          t.end(),
          t.id(),
          t.level(),
          t.run().place(),
          t.work().fronts(),
          t.work().flops(),
          t.work().foretoldSeconds());
    }
    System.out.printf(
        Locale.ROOT,
        "  foretold %.3f s, measured %.3f s%n",
        profile.foretoldSeconds(),
        report.seconds().factorize());
  }
}
