/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.threads.Parallel;
import java.nio.DoubleBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows in memory and in files: what was put is there, places do not overlap, all is freed. */
class RowStoreTest {

  private static final int PARTS = 3_000;

  @TempDir Path folder;

  /** Parts of up to 40,000 values, by four threads; part k has values k, k + 1/2, ... */
  private static DoubleBuffer[] filled(RowStore store) {
    var random = new Random(7);
    int[] length = new int[PARTS];
    for (int k = 0; k < PARTS; k++) {
      length[k] = random.nextInt(k % 100 == 0 ? 40_000 : 300);
    }
    var part = new DoubleBuffer[PARTS];
    Parallel.loop(
        PARTS,
        1,
        4,
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            part[k] = store.allocate(length[k]);
            for (int i = 0; i < length[k]; i++) {
              part[k].put(i, k + i / 2.0);
            }
          }
        });
    for (int k = 0; k < PARTS; k++) {
      assertThat(part[k].capacity()).isEqualTo(length[k]);
    }
    return part;
  }

  private static void requireFilled(DoubleBuffer[] part) {
    for (int k = 0; k < PARTS; k++) {
      for (int i = 0; i < part[k].capacity(); i++) {
        if (part[k].get(i) != k + i / 2.0) {
          throw new AssertionError("part " + k + ", value " + i + ": " + part[k].get(i));
        }
      }
    }
  }

  @Test
  void inMemoryThenInAFileThenFreed() {
    for (long limit : new long[] {0, 1 << 21, Long.MAX_VALUE}) {
      var budget = new RowBudget(limit);
      var store = new RowStore(budget, folder);
      DoubleBuffer[] part = filled(store);
      requireFilled(part);
      assertThat(store.memoryBytes()).isEqualTo(budget.memoryBytes()).isLessThanOrEqualTo(limit);
      assertThat(store.fileBytes()).isEqualTo(budget.fileBytes());
      assertThat(budget.memoryBytes() > 0).isEqualTo(limit > 0);
      assertThat(budget.fileBytes() > 0).isEqualTo(limit < Long.MAX_VALUE);
      assertThat(folder).isEmptyDirectory();
      store.close();
      assertThat(budget.memoryBytes()).isZero();
      assertThat(budget.fileBytes()).isZero();
    }
  }

  @Test
  void freedByTheLastHolder() {
    var budget = new RowBudget(1 << 20);
    var store = new RowStore(budget, folder);
    DoubleBuffer part = store.allocate(100).put(99, 7);
    store.hold();
    store.close();
    assertThat(part.get(99)).isEqualTo(7);
    assertThat(budget.memoryBytes()).isPositive();
    store.close();
    assertThat(budget.memoryBytes()).isZero();
    assertThatThrownBy(store::hold).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> store.allocate(1 << 20)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aStoreThatWasLostIsCountedNoMore() throws InterruptedException {
    var budget = new RowBudget(1 << 20);
    DoubleBuffer part = new RowStore(budget, folder).allocate(100).put(99, 7);
    for (int k = 0; k < 100 && budget.memoryBytes() > 0; k++) {
      System.gc();
      Thread.sleep(20);
    }
    assertThat(budget.memoryBytes()).isZero();
    assertThat(part.get(99)).as("still there for who has the buffer").isEqualTo(7);
  }

  /** Slabs are made side by side: one that comes after the end must not stay. */
  @Test
  void whatIsMadeWhileTheStoreEndsIsFreed() throws InterruptedException {
    for (int turn = 0; turn < 20; turn++) {
      var budget = new RowBudget(1L << 28);
      var store = new RowStore(budget, folder);
      var refused = new AtomicInteger();
      var threads = new Thread[4];
      for (int t = 0; t < threads.length; t++) {
        threads[t] =
            new Thread(
                () -> {
                  try {
                    while (true) {
                      store.allocate(20_000);
                    }
                  } catch (IllegalStateException e) {
                    refused.incrementAndGet();
                  }
                });
        threads[t].start();
      }
      Thread.sleep(turn);
      store.close();
      for (Thread t : threads) {
        t.join();
      }
      assertThat(refused.get()).isEqualTo(threads.length);
      assertThat(budget.memoryBytes()).isZero();
      assertThat(budget.fileBytes()).isZero();
    }
  }

  @Test
  void aFolderThatIsNotThere() {
    try (var store = new RowStore(new RowBudget(0), folder.resolve("none"))) {
      assertThatThrownBy(() -> store.allocate(1)).hasMessageContaining("none");
    }
  }

  @Test
  void whatTheJvmRefusedIsNotAskedForAgain() {
    var budget = new RowBudget(1000);
    assertThat(budget.take(400)).isTrue();
    assertThat(budget.take(300)).isTrue();
    budget.refused(300);
    assertThat(budget.take(1)).isFalse();
    budget.give(100);
    assertThat(budget.take(101)).isFalse();
    assertThat(budget.take(100)).isTrue();
    assertThat(budget.memoryBytes()).isEqualTo(400);
  }

  @Test
  void theBudgetUnlessSet() {
    long gib = 1L << 30;
    assertThat(RowBudget.standard(16 * gib, 4 * gib, 0)).isEqualTo(3 * gib);
    assertThat(RowBudget.standard(16 * gib, 4 * gib, 64 * gib)).isEqualTo(6 * gib);
    assertThat(RowBudget.standard(4 * gib, 4 * gib, 0)).isZero();
    assertThat(RowBudget.standard(2 * gib, 4 * gib, 0)).isZero();
  }
}
