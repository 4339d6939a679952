/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.BooleanSupplier;

/**
 * Touches the pages of the heap in which the next solve allocates. The system gives a page when it
 * is first touched, which costs a solve of millions of rows a third of a second; the young
 * generation is used from one end to the other before its first page is used again, in any
 * application, so that this takes no memory that would not be taken soon anyway.
 */
final class HeapPages {

  private static final int PIECE_BYTES = 1 << 20;

  /** At most this fraction of the largest heap, as 1 / share. */
  private static final int SHARE = 8;

  /** The last piece, so that none is optimized away. */
  private static volatile byte[] last;

  private HeapPages() {}

  /**
   * Allocates until the collector has been through the young generation once more.
   *
   * @param go asked every megabyte whether to go on
   * @return bytes allocated
   */
  static long touch(BooleanSupplier go) {
    long most = Runtime.getRuntime().maxMemory() / SHARE;
    long before = collections();
    long bytes = 0;
    while (bytes < most && collections() == before && go.getAsBoolean()) {
      last = new byte[PIECE_BYTES];
      bytes += PIECE_BYTES;
    }
    last = null;
    return bytes;
  }

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }
}
