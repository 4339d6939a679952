/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import io.sparqr.configuration.Keys;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The rows of R that stay on a device between tasks, at most a share of its memory. The least
 * recently used ones leave it to newer ones and to a factorization that needs the memory, for
 * page-locked memory of the host if it has room; after a time without use they are freed. No {@link
 * io.sparqr.jvm.ByteBudget}: what they take is the sum over the rows that are there, which may
 * leave at any time. Thread-safe.
 */
public final class Residents {

  private final List<DeviceRows> rows = new ArrayList<>();

  /** Device memory in all. */
  public synchronized long bytes() {
    return rows.stream().mapToLong(DeviceRows::bytes).sum();
  }

  public synchronized boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Makes room for rows of this many bytes.
   *
   * @param memory the device's memory in bytes
   * @return false if they are more than all rows may take
   */
  public boolean admit(long need, long memory) {
    if (!fits(need, memory)) {
      return false;
    }
    while (!hasRoom(need, memory) && evictOldest()) {
      // Until there is room.
    }
    return true;
  }

  /** Lets rows leave the device until there is room for this many bytes, or none are left there. */
  void leave(long need, long memory) {
    Optional<DeviceRows> next = nextToLeave();
    while (!hasRoom(need, memory) && next.isPresent() && !next.get().moved()) {
      next.get().makeRoom();
      next = nextToLeave();
    }
  }

  public synchronized void add(DeviceRows r) {
    rows.add(r);
  }

  synchronized void remove(DeviceRows r) {
    rows.remove(r);
  }

  private synchronized Optional<DeviceRows> oldest() {
    return rows.stream().min(Comparator.comparingLong(DeviceRows::lastUse));
  }

  /** Those that have left the device, but for what solves need beside them, come last. */
  private synchronized Optional<DeviceRows> nextToLeave() {
    return rows.stream()
        .min(Comparator.comparing(DeviceRows::moved).thenComparingLong(DeviceRows::lastUse));
  }

  /** Whether this many bytes more are within what all rows may take. */
  boolean hasRoom(long more, long memory) {
    return bytes() + more <= budget(memory);
  }

  /** Whether rows of this many bytes are within what all rows may take. */
  public static boolean fits(long need, long memory) {
    return need <= budget(memory);
  }

  private static long budget(long memory) {
    return (long) (Keys.RESIDENT_SHARE.ofJvm() * memory);
  }

  /** Frees memory of the least recently used rows; false if there are none. */
  public boolean evictOldest() {
    // Not under the monitor: this waits for a solve under way, and may remove the rows.
    Optional<DeviceRows> next = nextToLeave();
    next.ifPresent(DeviceRows::makeRoom);
    return next.isPresent();
  }

  /** Frees rows that have not been used for a while. */
  public void expire() {
    long most = (long) (1e9 * Keys.RESIDENT_SECONDS.ofJvm());
    Optional<DeviceRows> oldest = oldest();
    while (oldest.isPresent() && System.nanoTime() - oldest.get().lastUse() > most) {
      oldest.get().giveWay();
      oldest = oldest();
    }
  }

  /** Frees all. */
  void close() {
    for (Optional<DeviceRows> next = oldest(); next.isPresent(); next = oldest()) {
      next.get().giveWay();
    }
  }

  /** Frees all at the end of the JVM, when they are no longer needed elsewhere. */
  public void discard() {
    for (Optional<DeviceRows> next = oldest(); next.isPresent(); next = oldest()) {
      next.get().close();
    }
  }

  /** Forgets all: their context is lost. */
  public synchronized void abandon() {
    rows.forEach(DeviceRows::abandon);
    rows.clear();
  }
}
