/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.configuration.Keys;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The rows of R that stay on a device between tasks, at most a share of its memory. The least
 * recently used ones give way: to newer ones, to a factorization that needs the memory, and to
 * nobody after a time without use. Thread-safe.
 */
final class Residents {

  private final List<DeviceRows> rows = new ArrayList<>();

  /** Device memory in all. */
  synchronized long bytes() {
    return rows.stream().mapToLong(DeviceRows::bytes).sum();
  }

  synchronized boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Makes room for rows of so many bytes.
   *
   * @param memory the device's memory in bytes
   * @return false if they are more than all rows may take
   */
  boolean admit(long need, long memory) {
    if (!fits(need, memory)) {
      return false;
    }
    while (bytes() + need > budget(memory) && evictOldest()) {
      // Until there is room.
    }
    return true;
  }

  synchronized void add(DeviceRows r) {
    rows.add(r);
  }

  synchronized void remove(DeviceRows r) {
    rows.remove(r);
  }

  private synchronized Optional<DeviceRows> oldest() {
    return rows.stream().min(Comparator.comparingLong(DeviceRows::lastUse));
  }

  /** Whether rows of so many bytes are within what all rows may take. */
  static boolean fits(long need, long memory) {
    return need <= budget(memory);
  }

  private static long budget(long memory) {
    return (long) (Keys.RESIDENT_SHARE.ofJvm() * memory);
  }

  /** Frees the least recently used rows; false if there are none. */
  boolean evictOldest() {
    // Not under the monitor: this waits for a solve under way, and removes the rows.
    Optional<DeviceRows> oldest = oldest();
    oldest.ifPresent(DeviceRows::giveWay);
    return oldest.isPresent();
  }

  /** Frees rows that have not been used for a while. */
  void expire() {
    long most = (long) (1e9 * Keys.RESIDENT_SECONDS.ofJvm());
    Optional<DeviceRows> oldest = oldest();
    while (oldest.isPresent() && System.nanoTime() - oldest.get().lastUse() > most) {
      oldest.get().giveWay();
      oldest = oldest();
    }
  }

  /** Frees all. */
  void close() {
    while (evictOldest()) {
      // One after the other.
    }
  }

  /** Frees all at the end of the JVM, when nobody needs them elsewhere any more. */
  void discard() {
    for (Optional<DeviceRows> next = oldest(); next.isPresent(); next = oldest()) {
      next.get().close();
    }
  }

  /** Forgets all: their context is lost. */
  synchronized void abandon() {
    rows.forEach(DeviceRows::abandon);
    rows.clear();
  }
}
