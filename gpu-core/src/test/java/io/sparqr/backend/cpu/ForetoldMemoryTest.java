/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.SampledCases;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A task takes the memory that the plan predicts, with one thread or several, whole or cut. */
class ForetoldMemoryTest {

  @SampledCases(oneIn = 4)
  @ParameterizedTest
  @ValueSource(
      strings = {
        "cells2d150:rand",
        "cells3d14:rand",
        "grad3d16:rand",
        "ch5-6-b3:rand",
        "nug8:rand",
        "onehot60000x400x60x20:rand",
        "onehot30000x3000x20:rand",
        "onehot80000x120:rand"
      })
  void withinFifteenPercent(String specification) {
    CsrMatrix a = Gallery.generate(specification);
    double[] b = new Random(1).doubles(a.rows()).toArray();
    var analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withSingletons(false));
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    RowBlock rows = RowSplit.of(a, b, 1, analysis, norms.factors()).rows();
    int[] all = IntStream.range(0, analysis.fronts()).toArray();
    var grouped = new RowsByFront(new SubtreeProblem(analysis, all, rows, List.of()));
    for (int[] how : new int[][] {{1, 1}, {3, 1}, {1, 2}, {1, 4}, {3, 4}}) {
      int workers = how[0];
      int threads = how[1];
      var cut =
          TreePartitioner.partition(
              analysis,
              ResourceModel.uniform(workers, 1e10, 1L << 40),
              new PartitionOptions(2, 4, 1, 0));
      Map<Integer, ContributionBlock> blocks = new HashMap<>();
      long foretold = 0;
      long measured = 0;
      for (SubtreeTask t : cut.tasks()) {
        var inputs = new ArrayList<ContributionBlock>();
        Arrays.stream(t.inputs())
            .filter(blocks::containsKey)
            .forEach(f -> inputs.add(blocks.get(f)));
        RowBlock mine = grouped.only(t.fronts());
        var problem = new SubtreeProblem(analysis, t.fronts(), mine, inputs);
        try (var cpu = new CpuSubtreeFactorizer()) {
          var options = new FactorOptions(-1, threads, 0).in(ForetoldMemoryTest::outside);
          var factor = cpu.factor(problem, options);
          factor.outputs().forEach(o -> blocks.put(o.front(), o));
          // What several threads hold at a time depends on chance, and is judged beside R.
          long r = threads == 1 ? 0 : bytesOfR(factor);
          long most = Math.max(factor.summary().peakHostBytes(), arrival(problem));
          measured = Math.max(measured, most + r);
          foretold = Math.max(foretold, t.peakBytes() + r);
        }
      }
      assertThat((double) foretold / measured)
          .as(
              "%s, %d workers, %d threads: %d foretold, %d measured",
              specification, workers, threads, foretold, measured)
          .isBetween(0.85, 1.15);
    }
  }

  private static long bytesOfR(SubtreeFactor factor) {
    return Double.BYTES * factor.fronts().stream().mapToLong(FrontFactor::length).sum();
  }

  private static DoubleBuffer outside(int doubles) {
    return ByteBuffer.allocateDirect(Double.BYTES * doubles).asDoubleBuffer();
  }

  /** Rows as received and as decoded, beside the blocks. */
  private static long arrival(SubtreeProblem p) {
    RowBlock r = p.rows();
    long bytes = 2 * (12L * r.rowStart()[r.rows()] + 16L * r.rows());
    for (ContributionBlock b : p.inputs()) {
      bytes += 8L * (b.values().length + b.rhs().length);
    }
    return bytes;
  }
}
