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
import java.util.List;
import java.util.Random;
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
  void whatFailsOnAnotherThreadIsSaid() {
    var closed = new AtomicInteger();
    try (var reducer = new ChunkReducer(() -> new Failing(closed), 2, 4, 1)) {
      assertThatThrownBy(
              () -> {
                try (var front = new TallFront(List.of(reducer, reducer))) {
                  front.rows(new double[2 * 40], 0, 40);
                  front.r();
                }
              })
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("no more");
    }
    assertThat(closed).hasValue(1);
  }

  /** Tasks of an executor share one, with a triangle each. */
  @Test
  void matricesMayShareAReducer() {
    double[] a = new Random(1).doubles(8 * 100, -1, 1).toArray();
    double[] b = new Random(2).doubles(8 * 100, -1, 1).toArray();
    try (var reducer = new ChunkReducer(() -> new CpuBackendProvider().create(0), 8, 30, 1);
        var one = new TallFront(List.of(reducer));
        var other = new TallFront(List.of(reducer))) {
      one.rows(a, 0, 100);
      double[] r = one.r();
      for (int i = 0; i < 100; i++) {
        one.rows(a, 8 * i, 1);
        other.rows(b, 8 * i, 1);
      }
      assertThat(other.r()).isNotEqualTo(r);
      assertThat(one.r()).isEqualTo(r);
    }
  }

  @Test
  void rowsAreHereUntilAChunkIsFull() {
    try (var reducer = new ChunkReducer(() -> new Failing(new AtomicInteger()), 2, 4, 1);
        var front = new TallFront(List.of(reducer))) {
      front.rows(new double[] {1e200, 2, 3, 1e-300, 5, 6}, 0, 3);
      assertThat(front.hasBegun()).isFalse();
      double[] row = new double[2];
      front.copyRow(1, row);
      assertThat(row).containsExactly(3, 1e-300);
      front.row(row);
      assertThat(front.hasBegun()).isTrue();
    }
  }

  @Test
  void aChunkThatFitsNoArrayIsRefused() {
    assertThatThrownBy(
            () -> new ChunkReducer(() -> new CpuBackendProvider().create(0), 70_000, 40_000, 1))
        .isInstanceOf(IndexOverflowException.class)
        .hasMessage("40000 rows of 70000 columns below a triangle do not fit into an array");
  }

  @Test
  void chunksHaveAtLeastAsManyRowsAsColumns() {
    assertThat(ChunkReducer.chunkRows(100, 1_000_000)).isEqualTo(10_000);
    assertThat(ChunkReducer.chunkRows(2000, 1_000_000)).isEqualTo(2000);
  }
}
