/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.schedule.DevicePart;
import io.sparqr.backend.schedule.DeviceSchedule;
import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.Task;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.DeviceStage;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The lists in {@code docs/design/several-devices.md} are those of two simulated devices. */
class DevicesExampleTest {

  private static final Path PAGE =
      Path.of(System.getProperty("basedir", "."), "..", "docs/design/several-devices.md");

  /** The levelling network of the algorithm's page. */
  private static final double[][] A = {
    {1, 0, 0, 0, 0},
    {-1, 1, 0, 0, 0},
    {0, -1, 0, 0, 1},
    {-1, 0, 0, 0, 1},
    {0, 0, 1, 0, 0},
    {0, 0, -1, 1, 0},
    {0, 0, 0, -1, 1},
    {0, 0, -1, 0, 1},
  };

  private static final double[] B = {10.0, 1.02, 1.98, 3.03, 11.0, 0.51, 1.47, 2.01};

  @Test
  void eightRowsOnTwoDevices() throws IOException {
    CsrMatrix a = TestMatrices.ofDense(A, 5, false);
    var devices = new FrontDevices(2, new int[] {0, 1, 0}, new int[] {1, 1, 1}, 1);
    assertThat(Files.readString(PAGE)).contains(lists(a, B, devices, SchedulerOptions.defaults()));
  }

  /** 128 rows, 96 columns: four row tiles, three column tiles. */
  @Test
  void oneFrontSharedByTwo() throws IOException {
    var random = new Random(1);
    double[][] a = new double[128][96];
    for (double[] row : a) {
      Arrays.setAll(row, j -> random.nextGaussian());
    }
    var devices = new FrontDevices(2, new int[] {0}, new int[] {2}, 1);
    var options = SchedulerOptions.defaults().withBundle(2);
    CsrMatrix dense = TestMatrices.ofDense(a, 96, false);
    assertThat(Files.readString(PAGE)).contains(lists(dense, new double[0], devices, options));
  }

  private static String lists(
      CsrMatrix a, double[] b, FrontDevices devices, SchedulerOptions options) {
    var symbolic =
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withAmalgamation(Amalgamation.none())
            .withSingletons(false);
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(a.pattern(), symbolic);
    assertThat(analysis.fronts()).isEqualTo(devices.fronts());
    double[] ones = new double[a.columns()];
    Arrays.fill(ones, 1);
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    RowSplit split = RowSplit.of(a, b, b.length / a.rows(), analysis, ones);
    var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    var programs = new ArrayList<StageProgram>();
    Function<StageProgram, FrontDevices> map =
        p -> {
          programs.add(p);
          return devices;
        };
    var noTest = new FactorOptions(-1, 1, 0);
    var executor = new DevicesExecutor(options, map, 1L << 30, new Random(2)::nextInt);
    SubtreeFactor two = new ReferenceSubtreeFactorizer(executor).factor(problem, noTest);
    SubtreeFactor one = new ReferenceSubtreeFactorizer(options).factor(problem, noTest);
    for (int f = 0; f < fronts.length; f++) {
      assertThat(TestMatrices.rowsOfR(two.fronts().get(f)))
          .isEqualTo(TestMatrices.rowsOfR(one.fronts().get(f)));
    }
    return text(DeviceStage.of(programs.get(0), devices, options, 1).schedule());
  }

  private static String text(DeviceSchedule schedule) {
    var text = new StringBuilder();
    for (int r = 0; r < schedule.rounds(); r++) {
      for (int d = 0; d < schedule.devices(); d++) {
        var line = new ArrayList<String>();
        StageSchedule s = schedule.of(d);
        int tasks = (int) (s.roundStart(r + 1) - s.roundStart(r));
        ByteBuffer list =
            ByteBuffer.allocate(tasks * TaskLayout.TASK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        s.write(r, r + 1, list);
        for (int k = 0; k < tasks; k++) {
          line.add(name(list, k * TaskLayout.TASK_BYTES));
        }
        if (!line.isEmpty()) {
          String head = "round %d, device %d: ".formatted(r, d);
          String next = "\n" + " ".repeat(head.length());
          text.append(head).append(String.join(next, line)).append('\n');
        }
      }
    }
    return text.toString();
  }

  private static String name(Task.Pull c) {
    String what = "";
    if (c.part() instanceof DevicePart.Bundle b) {
      what = "VT of column tile " + (b.column() + 1) + ", V of row tiles " + tiles(b.rowTiles());
    } else if (c.part() instanceof DevicePart.Tiles t) {
      what = "final tiles, rows %d .. %d".formatted(t.rowFrom(), t.rowTo() - 1);
    } else if (c.part() instanceof DevicePart.Block b) {
      what =
          "block, rows %d .. %d, columns %d .. %d"
              .formatted(b.rowFrom(), b.rowTo() - 1, b.columnFrom(), b.columnTo() - 1);
    }
    return "PULL from %d, front %d, announced %d: %s"
        .formatted(c.from(), c.front(), c.made(), what);
  }

  private static String name(ByteBuffer list, int at) {
    Task task = TaskLayout.decode(list, at);
    String what;
    if (task instanceof Task.Pull t) {
      what = name(t);
    } else if (task instanceof Task.Announce) {
      what = "ANNOUNCE front " + task.front();
    } else if (task instanceof Task.Factorize t) {
      what = "FACTORIZE %d:%s".formatted(t.column() + 1, tiles(t.bundle()));
    } else if (task instanceof Task.ApplyFactorize t) {
      what =
          "APPLY_FACTORIZE %d:%s > %d:%s"
              .formatted(t.column() + 1, tiles(t.bundle()), t.column() + 2, tiles(t.nextBundle()));
    } else if (task instanceof Task.Apply t) {
      what =
          "APPLY%s %d:%s to column tiles %d .. %d"
              .formatted(
                  TaskLayout.countsForChain(list, at) ? "_NEAR" : "",
                  t.column() + 1,
                  tiles(t.bundle()),
                  t.from() + 1,
                  t.to());
    } else if (task instanceof Task.PackAssemble t) {
      what = "PACK_ASSEMBLE block of front %d into front %d".formatted(t.front(), t.parent());
    } else if (task instanceof Task.SmallFront t) {
      what =
          "SMALL_FRONT " + t.front() + (TaskLayout.marked(list, at) ? ", whose block leaves" : "");
    } else if (task instanceof Task.PackRows t) {
      what = "PACK_ROWS %d .. %d".formatted(t.rowFrom(), t.rowTo() - 1);
    } else {
      what = task.getClass().getSimpleName().equals("AssembleS") ? "ASSEMBLE_S" : "RESIDUAL";
    }
    int chain = TaskLayout.needChain(list, at);
    int bulk = TaskLayout.needBulk(list, at);
    return (chain | bulk) == 0 ? what : "%s (chain %d, bulk %d)".formatted(what, chain, bulk);
  }

  private static String tiles(int[] tiles) {
    return Arrays.stream(tiles)
        .mapToObj(i -> "" + (i + 1))
        .collect(Collectors.joining(",", "{", "}"));
  }
}
