/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.TileFlops;
import io.sparqr.symbolic.TileModel;
import io.sparqr.symbolic.Tuning;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The flops that the symbolic analysis predicts for a tree are those that its stage does. */
class TreeFlopsTest {

  @ParameterizedTest
  @ValueSource(strings = {"nug6:rand", "cells3d10", "grad3d12", "cells2d60", "onehot20000x200x50"})
  void aWholeTreeIsForetoldToTheFlop(String name) {
    CsrMatrix a = Gallery.generate(name);
    for (var ordering : List.of(OrderingMethod.COLAMD, OrderingMethod.NESTED_DISSECTION)) {
      SymbolicAnalysis analysis =
          SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withOrdering(ordering));
      double[] ones = new double[a.columns()];
      Arrays.fill(ones, 1);
      RowSplit split = RowSplit.of(a, new double[a.rows()], 1, analysis, ones);
      int[] fronts = new int[analysis.fronts()];
      Arrays.setAll(fronts, f -> f);
      var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
      for (var options : List.of(SchedulerOptions.defaults(), device(), tuned())) {
        var builder = new StageBuilder(analysis, new RowsByFront(problem), options, 1, true, false);
        double done = builder.build(fronts, List.of()).schedule().flops();
        assertThat(Arrays.stream(TileFlops.of(analysis, options.tileModel(), 1)).sum())
            .as("%s, %s, %s", name, ordering, options)
            .isEqualTo(done)
            .isPositive();
      }
      for (int rhs : new int[] {1, 1, 3, 0, 1}) {
        assertThat(TileFlops.ofDevice(analysis, rhs))
            .as("%s, %s, %d", name, ordering, rhs)
            .isEqualTo(TileFlops.of(analysis, TileModel.device(), rhs));
        TileModel model = tuned().tileModel();
        assertThat(TileFlops.ofDevice(analysis, rhs, model))
            .as("%s, %s, %d, tuned", name, ordering, rhs)
            .isEqualTo(TileFlops.of(analysis, model, rhs));
      }
    }
  }

  /** Each class of column tiles has bundles of its own. */
  private static SchedulerOptions tuned() {
    Tuning tuning = Tuning.constants().with(new TileBundles(2, 6, 5, 3)).withSmallFronts(1024, 40);
    return SchedulerOptions.of(tuning, 7);
  }

  private static SchedulerOptions device() {
    TileModel tiles = TileModel.device();
    return SchedulerOptions.defaults()
        .with(tiles.bundles())
        .withSmallFronts(tiles.smallFrontDoubles(), tiles.smallFrontColumns());
  }
}
