/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.storage;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import io.sparqr.configuration.Keys;
import io.sparqr.jvm.ByteBudget;
import io.sparqr.jvm.JvmPart;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Bytes of rows of R outside the heap: how many there may be, how many there are. A {@link
 * ByteBudget} that falls to what the JVM has given once it gives no more, beside a count of the
 * bytes in files. Thread-safe.
 */
public final class RowBudget {

  private static final JvmPart<RowBudget> OF_JVM =
      JvmPart.holding(
          "bytes of R outside the heap",
          RowBudget::bySetting,
          budget -> budget.memoryBytes() + budget.fileBytes());

  /** What the JVM gave before it had no more direct memory. */
  private final AtomicLong given = new AtomicLong(Long.MAX_VALUE);

  private final ByteBudget memory;
  private final AtomicLong files = new AtomicLong();

  /**
   * A budget.
   *
   * @param limit bytes in memory; 0: all rows go to files
   */
  public RowBudget(long limit) {
    this(() -> limit);
  }

  private RowBudget(LongSupplier limit) {
    memory = new ByteBudget(() -> Math.min(limit.getAsLong(), given.get()));
  }

  /** The budget of this JVM: {@link Keys#FACTOR_MEMORY}. */
  public static RowBudget ofJvm() {
    return OF_JVM.get();
  }

  /** The setting may change as long as the JVM runs. */
  private static RowBudget bySetting() {
    long standard = standard();
    return new RowBudget(() -> Keys.FACTOR_MEMORY.find(System::getProperty).orElse(standard));
  }

  /**
   * Half of what the machine, or the container, has beside the heap, and at most three quarters of
   * what the JVM gives to direct buffers: network transfers need some of both. YARN ends a
   * container at a limit that the JVM does not see: there, half of what Spark asks for beside the
   * heap unless told otherwise.
   */
  private static long standard() {
    long heap = Runtime.getRuntime().maxMemory();
    long machine =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    long direct =
        Long.parseLong(
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption("MaxDirectMemorySize")
                .getValue());
    return System.getenv("CONTAINER_ID") != null ? heap / 20 : standard(machine, heap, direct);
  }

  static long standard(long machine, long heap, long direct) {
    long most = direct == 0 ? heap : direct;
    return Math.max(0, Math.min((machine - heap) / 2, most / 4 * 3));
  }

  /** Bytes in memory. */
  public long memoryBytes() {
    return memory.taken();
  }

  /** Bytes in files. */
  public long fileBytes() {
    return files.get();
  }

  /** Takes a part of the budget; false if there is not so much left. */
  public boolean take(long bytes) {
    return memory.take(bytes);
  }

  /** Gives bytes of memory back to the budget. */
  public void give(long bytes) {
    memory.giveBack(bytes);
  }

  /**
   * Gives back what was taken and could not be had. From then on no more is taken than there was:
   * the JVM waits and collects before it refuses, and others keep what they have taken.
   */
  void refused(long bytes) {
    given.accumulateAndGet(memory.giveBack(bytes), Math::min);
  }

  /** Counts bytes more, or less, in files. */
  void inFiles(long bytes) {
    files.addAndGet(bytes);
  }
}
