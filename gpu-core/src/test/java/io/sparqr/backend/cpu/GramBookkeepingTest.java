/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.numeric.gram.GramQr;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Panels;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a task tells of trees by their Gram matrix, and how those go on that are refused. */
class GramBookkeepingTest {

  /** The analysis counts one. */
  private static final int RHS = 3;

  private static final GramRule ALL = (tree, index) -> true;

  private static SubtreeProblem whole(double size) {
    SubtreeProblem panel = whole(Panels.anywhere(40_000, 600, 8, new Random(1)), size);
    assertThat(panel.analysis().isGram(panel.analysis().fronts() - 1)).isTrue();
    return panel;
  }

  private static SubtreeProblem whole(CsrMatrix a, double size) {
    double[] b = new Random(1).doubles(RHS * (long) a.rows(), 0, size).toArray();
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.COLAMD).withGram();
    var analysis = SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false));
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    var rows = RowSplit.of(a, b, RHS, analysis, norms.factors()).rows();
    int[] all = IntStream.range(0, analysis.fronts()).toArray();
    return new SubtreeProblem(analysis, all, rows, List.of());
  }

  private static double told(SubtreeProblem problem, boolean refused) {
    List<Double> heard = Collections.synchronizedList(new ArrayList<>());
    try (var cpu = new CpuSubtreeFactorizer(BlasLoader.kernels(), ALL)) {
      var options = new FactorOptions(1e-8, 2, 0).gram(true).heardBy(heard::add);
      var gram = cpu.factor(problem, options).summary().gram();
      assertThat(gram.tried()).isEqualTo(problem.fronts().length);
      assertThat(gram.refused()).isEqualTo(refused ? gram.tried() : 0);
    }
    assertThat(heard).allMatch(f -> f > 0);
    return heard.stream().mapToDouble(f -> f).sum();
  }

  /** Right-hand sides whose squares overflow are refused when the fronts have been factored. */
  @Test
  void progressAddsUpAlsoAfterARefusal() {
    for (boolean refused : new boolean[] {false, true}) {
      SubtreeProblem problem = whole(refused ? 1e200 : 1);
      double flops = problem.analysis().flops();
      assertThat(told(problem, refused))
          .as("refused: %s", refused)
          .isCloseTo(flops, within(Tolerances.REORDERED * flops));
    }
  }

  /** Its parts go side by side, each front as it would have gone at first. */
  @Test
  void aRefusedTreeHasTheBitsOfReflectors() {
    SubtreeProblem problem = whole(Gallery.generate("gen:cells2d100"), 1e200);
    var options = new FactorOptions(1e-8, 3, 0);
    var state = new SubtreeState(problem, options.gram(true), ALL);
    int root = state.frontCount() - 1;
    var group = new RefusedGroup(state, state.groups().members(root), 0, "");
    assertThat(group.parts()).isGreaterThan(3);
    long[] expected;
    try (var cpu = new CpuSubtreeFactorizer()) {
      expected =
          cpu.factor(problem, options).fronts().stream().mapToLong(FrontFactor::sum).toArray();
    }
    for (int threads : new int[] {1, 3}) {
      try (var cpu = new CpuSubtreeFactorizer(BlasLoader.kernels(), ALL)) {
        var made = cpu.factor(problem, new FactorOptions(1e-8, threads, 0).gram(true));
        assertThat(made.summary().gram().refused()).isEqualTo(problem.fronts().length);
        assertThat(made.fronts().stream().mapToLong(FrontFactor::sum).toArray())
            .as("%d threads", threads)
            .containsExactly(expected);
      }
    }
  }

  /** Kernels that count their calls, and interrupt the thread at one of them. */
  private static DenseKernels counting(long[] calls, long interruptAt) {
    DenseKernels kernels = BlasLoader.kernels();
    return (DenseKernels)
        Proxy.newProxyInstance(
            DenseKernels.class.getClassLoader(),
            new Class<?>[] {DenseKernels.class},
            (proxy, method, arguments) -> {
              if (++calls[0] == interruptAt) {
                Thread.currentThread().interrupt();
              }
              return method.invoke(kernels, arguments);
            });
  }

  /** Within a subtree, too, of which each is a part of the whole work. */
  @Test
  void aCancelledJobEndsBetweenTwoFrontsOfARefusedTree() {
    SubtreeProblem problem = whole(Gallery.generate("gen:cells2d100"), 1e200);
    var options = new FactorOptions(1e-8, 1, 0);
    long[] reflectors = new long[1];
    try (var cpu = new CpuSubtreeFactorizer(counting(reflectors, -1), (tree, i) -> false)) {
      cpu.factor(problem, options);
    }
    long[] all = new long[1];
    try (var cpu = new CpuSubtreeFactorizer(counting(all, -1), ALL)) {
      cpu.factor(problem, options.gram(true));
    }
    long first = all[0] - reflectors[0] + 1;
    long[] calls = new long[1];
    try (var cpu = new CpuSubtreeFactorizer(counting(calls, first), ALL)) {
      assertThatThrownBy(() -> cpu.factor(problem, options.gram(true)))
          .isInstanceOf(CancellationException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(calls[0]).isBetween(first, first + reflectors[0] / 200);
  }

  /** R by the Gram matrix is on the heap until the last of its fronts is packed. */
  @Test
  void whatIsHeldIsR() {
    SubtreeProblem problem = whole(1);
    var options = new FactorOptions(1e-8, 1, 0).gram(true);
    var state = new SubtreeState(problem, options, ALL);
    int root = state.frontCount() - 1;
    int[] members = state.groups().members(root);
    assertThat(members).hasSize(root + 1);
    var rows = state.groupRows(members);
    long bytes = state.arrivalBytes() + GramQr.bytes(rows, rows.shape(), RHS);
    try (var cpu = new CpuSubtreeFactorizer(BlasLoader.kernels(), ALL)) {
      var made = cpu.factor(problem, options);
      long packed = made.fronts().stream().limit(root).mapToLong(FrontFactor::heapBytes).sum();
      assertThat(packed).isPositive();
      assertThat(made.summary().peakHostBytes()).isGreaterThanOrEqualTo(bytes + packed);
    }
  }
}
