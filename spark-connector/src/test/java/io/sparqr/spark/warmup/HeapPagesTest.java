/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Pages of the heap that a warm-up touches: up to a collection or a share, or until it ends. */
class HeapPagesTest {

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  @Test
  void theYoungGenerationIsUsedToItsEndAndNoMoreThanAShare() {
    long before = collections();
    long most = Runtime.getRuntime().maxMemory() / 8;
    long bytes = HeapPages.touch(() -> true);
    assertThat(bytes).isPositive().isLessThan(most + (1 << 20));
    assertThat(bytes >= most || collections() > before).isTrue();
  }

  @Test
  void itEndsWhenItIsTold() {
    assertThat(HeapPages.touch(() -> false)).isZero();
    var left = new AtomicInteger(3);
    assertThat(HeapPages.touch(() -> left.getAndDecrement() > 0)).isLessThanOrEqualTo(3 << 20);
  }
}
