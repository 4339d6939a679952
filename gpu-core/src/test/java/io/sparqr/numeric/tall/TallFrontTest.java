/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.dense.BlasLoader;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tall matrices by the CPU's backend and by the tasks of the device in plain Java. */
class TallFrontTest {

  @Nested
  class OnTheCpu extends TallFrontContract {
    @Override
    protected SubtreeFactorizer create() {
      return new CpuBackendProvider().create(0);
    }
  }

  @Nested
  class ByTasks extends TallFrontContract {
    @Override
    protected SubtreeFactorizer create() {
      return new ReferenceSubtreeFactorizer();
    }
  }

  /** Fails at its second chunk. */
  private static final class Failing implements SubtreeFactorizer {
    private final SubtreeFactorizer good = new CpuBackendProvider().create(0);
    private final AtomicInteger closed;
    private int chunks;

    Failing(AtomicInteger closed) {
      this.closed = closed;
    }

    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      if (++chunks == 2) {
        throw new IllegalStateException("no more");
      }
      return good.factor(problem, options);
    }

    @Override
    public String description() {
      return "failing";
    }

    @Override
    public void close() {
      good.close();
      closed.incrementAndGet();
    }
  }

  @Test
  void whatFailsOnAnotherThreadIsSaidAndAllIsClosed() {
    var closed = new AtomicInteger();
    List<SubtreeFactorizer> lanes = List.of(new Failing(closed), new Failing(closed));
    assertThatThrownBy(
            () -> {
              try (var front = new TallFront(lanes, 2, 4, 1)) {
                front.rows(new double[2 * 40], 0, 40);
                front.r(BlasLoader.kernels());
              }
            })
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no more");
    assertThat(closed).hasValue(2);
  }

  @Test
  void aChunkThatFitsNoArrayIsRefused() {
    assertThatThrownBy(() -> new TallFront(List.of(), 70_000, 40_000, 1))
        .isInstanceOf(IndexOverflowException.class)
        .hasMessage("40000 rows of 70000 columns below a triangle do not fit into an array");
  }

  @Test
  void chunksHaveAtLeastAsManyRowsAsColumns() {
    assertThat(TallFront.chunkRows(100, 1_000_000)).isEqualTo(10_000);
    assertThat(TallFront.chunkRows(2000, 1_000_000)).isEqualTo(2000);
  }
}
