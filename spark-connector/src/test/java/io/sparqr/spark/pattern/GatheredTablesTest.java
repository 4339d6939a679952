/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.NonFiniteValueException;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tables that come to the driver as they are: whose they are, and that nothing of them remains. */
class GatheredTablesTest {

  private static final CsrMatrix A = Problems.random(300, 12, 3, 20261125L);
  private static final long PLENTY = 1 << 20;

  /** Rows of partition 1 read so far, by all its attempts. */
  private static final AtomicInteger READ = new AtomicInteger();

  private static volatile CountDownLatch begun = new CountDownLatch(1);
  private static volatile CountDownLatch released = new CountDownLatch(1);

  private final JavaSparkContext context = LocalSpark.context();

  private int before;

  @BeforeEach
  void open() {
    before = Exchange.open();
  }

  @AfterEach
  void nothingMoreIsOpen() {
    assertThat(Exchange.open()).isEqualTo(before);
  }

  private static JavaRDD<SparseRow> rows() {
    return Problems.rdd(A, 3, Problems.rhs(300, 2));
  }

  private static PatternPass pass(RowSource source, long tableBytes) {
    return new PatternPass(source, SolveOptions.defaults(), tableBytes, 1 << 20, 1 << 20);
  }

  @Test
  void tablesBeyondTheLimitGoByTheShuffle() {
    RowSource source = RowSource.of(rows());
    PatternPass.Result few = pass(source, PLENTY).run();
    assertThat(few.shuffleBytes()).isZero();
    for (long limit : new long[] {1, 5000, 70_000, 150_000}) {
      PatternPass.Result many = pass(source, limit).run();
      assertThat(many.shuffleBytes()).as("limit %d", limit).isPositive();
      assertSame(many, few);
    }
  }

  private static void assertSame(PatternPass.Result found, PatternPass.Result expected) {
    assertThat(found.norm()).isEqualTo(expected.norm());
    assertThat(found.patterns().count()).isEqualTo(expected.patterns().count());
    assertThat(found.patterns().whole().orElseThrow().rowStart())
        .isEqualTo(expected.patterns().whole().orElseThrow().rowStart());
    assertThat(found.patterns().whole().orElseThrow().columnIndex())
        .isEqualTo(expected.patterns().whole().orElseThrow().columnIndex());
    assertThat(found.patterns().whole().orElseThrow().multiplicity())
        .isEqualTo(expected.patterns().whole().orElseThrow().multiplicity());
    for (int p = 0; p < expected.readings().partitions(); p++) {
      assertThat(found.readings().of(p)).isEqualTo(expected.readings().of(p));
    }
  }

  /** Without Spark: the same way, the same result. */
  @Test
  void theEngineOfThisJvmTakesThemToo() {
    List<List<SparseRow>> parts = rows().glom().collect();
    RowSource source = RowSource.local(3, p -> parts.get(p).iterator());
    PatternPass.Result found = new PatternPass(source, SolveOptions.defaults()).run();
    assertThat(found.shuffleBytes()).isZero();
    assertSame(found, pass(RowSource.of(rows()), 0).run());
  }

  @Test
  void aFailedJobLeavesNothingBehind() {
    JavaRDD<SparseRow> bad = rows().mapPartitionsWithIndex((p, it) -> broken(p, it), true);
    assertThatThrownBy(() -> pass(RowSource.of(bad), PLENTY).run())
        .hasStackTraceContaining("no more rows");
  }

  private static Iterator<SparseRow> broken(int partition, Iterator<SparseRow> rows) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public SparseRow next() {
        if (partition == 2) {
          throw new IllegalStateException("no more rows");
        }
        return rows.next();
      }
    };
  }

  @Test
  void theErrorOfTheLowestPartitionIsThrown() {
    JavaRDD<SparseRow> bad =
        rows()
            .mapPartitionsWithIndex(
                (p, it) -> {
                  var list = new ArrayList<SparseRow>();
                  it.forEachRemaining(list::add);
                  if (p > 0) {
                    list.add(new SparseRow(new int[] {p}, new double[] {Double.NaN}, 1));
                  }
                  return list.iterator();
                },
                true);
    assertThatThrownBy(() -> pass(RowSource.of(bad), PLENTY).run())
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("partition 1");
  }

  /** A task that still runs when its job is cancelled leaves nothing for anybody. */
  @Test
  void aCancelledJobLeavesNothingBehind() throws Exception {
    begun = new CountDownLatch(1);
    released = new CountDownLatch(1);
    JavaRDD<SparseRow> slow = rows().mapPartitionsWithIndex((p, it) -> waiting(p, it), true);
    RowSource source = RowSource.of(slow);
    var job =
        CompletableFuture.supplyAsync(
            () -> {
              context.setJobGroup("tables", "to be cancelled", false);
              try {
                return pass(source, PLENTY).run();
              } finally {
                context.clearJobGroup();
              }
            });
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(Exchange.open()).isEqualTo(before + 1);
    context.cancelJobGroup("tables");
    assertThatThrownBy(() -> job.get(60, TimeUnit.SECONDS)).hasStackTraceContaining("cancelled");
    assertThat(Exchange.open()).isEqualTo(before);
    int read = READ.get();
    released.countDown();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (READ.get() == read && System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    assertThat(READ.get()).as("the task goes on after its job").isGreaterThan(read);
  }

  private static Iterator<SparseRow> waiting(int partition, Iterator<SparseRow> rows) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public SparseRow next() {
        if (partition == 0) {
          begun.countDown();
          while (released.getCount() > 0) {
            Thread.onSpinWait();
          }
          READ.incrementAndGet();
        }
        return rows.next();
      }
    };
  }
}
