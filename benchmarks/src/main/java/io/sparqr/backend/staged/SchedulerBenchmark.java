/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.BucketScheduler;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.StageBuilder;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Prints rounds a column tile of dense fronts, and how fast stages of whole problems are laid out,
 * scheduled and written, in CPU time of one thread (best of the runs printed is what counts).
 * Arguments: gallery names, such as {@code gen:nug15:rand gen:grad3d40}; a name may end in
 * {@code @AMD} or another ordering (default COLAMD).
 */
public final class SchedulerBenchmark {

  private static ByteBuffer buffer = ByteBuffer.allocate(0);

  private SchedulerBenchmark() {}

  /** Prints the two tables. */
  public static void main(String[] args) {
    rounds();
    for (String arg : args) {
      String[] name = arg.split("@");
      OrderingMethod ordering =
          name.length < 2 ? OrderingMethod.COLAMD : OrderingMethod.valueOf(name[1]);
      problem(name[0], ordering);
    }
  }

  private static void rounds() {
    int[][] shapes = {{32, 32}, {128, 128}, {256, 256}, {625, 157}, {3125, 6}, {200, 20}};
    System.out.println("rounds a column tile (bound B/(B-1)); last: 128 x 64, full staircase");
    for (int bundle : new int[] {2, 3, 4, 6, 8}) {
      var line = new StringBuilder("B = " + bundle + " ");
      for (int[] s : shapes) {
        var f = BucketScheduler.schedule(new int[s[0]], s[1], s[1], bundle, true);
        line.append(
            String.format(
                " | %dx%d %d (%.2f)", s[0], s[1], f.rounds(), f.rounds() / (double) s[1]));
      }
      int[] stair = new int[128];
      Arrays.setAll(stair, i -> i / 2);
      var f = BucketScheduler.schedule(stair, 64, 64, bundle, true);
      System.out.println(line + String.format(" | %d (%.2f)", f.rounds(), f.rounds() / 64.0));
    }
  }

  private static void problem(String name, OrderingMethod ordering) {
    CsrMatrix a = Gallery.generate(name);
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withOrdering(ordering));
    double[] ones = new double[a.columns()];
    Arrays.fill(ones, 1);
    RowSplit split = RowSplit.of(a, new double[a.rows()], 1, analysis, ones);
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    System.out.printf(
        "%s %s: %d fronts, %.3g flops%n", name, ordering, fronts.length, analysis.flops());
    for (int run = 0; run < 8; run++) {
      long t0 = cpuTime();
      var rows = new RowsByFront(problem);
      long t1 = cpuTime();
      var builder = new StageBuilder(analysis, rows, SchedulerOptions.defaults(), 1, true, false);
      StageProgram p = builder.build(fronts, List.of());
      long t2 = cpuTime();
      StageSchedule s = p.schedule();
      for (int r = 0; r < s.rounds(); r++) {
        s.write(r, r + 1, buffer((int) (s.roundStart(r + 1) - s.roundStart(r))));
      }
      long t3 = cpuTime();
      System.out.printf(
          "  rows %.1f ms, layout and schedule %.1f ms, write %.1f ms; %d rounds, %d tasks"
              + " (%.1f M/s written, %.1f M/s in all), S %d, VT slots %d, %.2f GB, %.3g flops%n",
          (t1 - t0) * 1e-6,
          (t2 - t1) * 1e-6,
          (t3 - t2) * 1e-6,
          s.rounds(),
          s.tasks(),
          s.tasks() * 1e3 / (t3 - t2),
          s.tasks() * 1e3 / (t3 - t1),
          p.sEntries(),
          s.vtSlots(),
          p.deviceBytes() * 1e-9,
          s.flops());
    }
  }

  private static long cpuTime() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static ByteBuffer buffer(int tasks) {
    int bytes = tasks * TaskLayout.TASK_BYTES;
    if (buffer.capacity() < bytes) {
      buffer = ByteBuffer.allocateDirect(2 * bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
    return buffer;
  }
}
