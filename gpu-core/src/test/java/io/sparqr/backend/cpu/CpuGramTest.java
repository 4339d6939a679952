/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.dense.BlasLoader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;

/**
 * The contract with every tree of a task tried by its Gram matrix, whatever that costs, or most of
 * the fronts, so that blocks come out of such trees and into them.
 */
class CpuGramTest extends SubtreeFactorizerContract {

  private static final List<FactorSummary.Gram> SEEN = new ArrayList<>();

  @Override
  protected SubtreeFactorizer create() {
    var all = new CpuSubtreeFactorizer(BlasLoader.kernels(), (tree, index) -> true, 0);
    var most =
        new CpuSubtreeFactorizer(BlasLoader.kernels(), (tree, index) -> 5 * index % 7 != 3, 0);
    return new SubtreeFactorizer() {
      @Override
      public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
        var one = problem.rows().rows() % 2 == 0 ? all : most;
        SubtreeFactor factor = one.factor(problem, options.gram(true));
        SEEN.add(factor.summary().gram());
        return factor;
      }

      @Override
      public String description() {
        return all.description();
      }

      @Override
      public void close() {
        all.close();
        most.close();
      }
    };
  }

  @Override
  public boolean factorsTrees() {
    return true;
  }

  @AfterAll
  static void count() {
    FactorSummary.Gram all =
        SEEN.stream().reduce(FactorSummary.Gram.NONE, FactorSummary.Gram::plus);
    System.out.println("fronts by their Gram matrix: " + all);
    if (all.tried() - all.refused() < all.tried() / 4 || all.refused() == 0) {
      throw new AssertionError("too few of one kind: " + all);
    }
  }
}
