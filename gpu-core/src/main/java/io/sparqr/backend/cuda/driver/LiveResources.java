/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the device resources of each kind held by this JVM, so that a test can show that none is
 * left.
 */
public final class LiveResources {

  /** Kinds of resources. */
  public enum Kind {
    DEVICE_BUFFER,
    PINNED_BUFFER,
    STREAM,
    EVENT,
    MODULE,
    CONTEXT
  }

  private static final Map<Kind, AtomicLong> LIVE = new EnumMap<>(Kind.class);

  static {
    for (Kind kind : Kind.values()) {
      LIVE.put(kind, new AtomicLong());
    }
  }

  private LiveResources() {}

  private static AtomicLong of(Kind kind) {
    return Objects.requireNonNull(LIVE.get(kind));
  }

  static void opened(Kind kind) {
    of(kind).incrementAndGet();
  }

  static void closed(Kind kind) {
    of(kind).decrementAndGet();
  }

  private static final AtomicLong DEVICE_BYTES = new AtomicLong();

  /** Records device memory allocated, or freed (negative). */
  static void deviceBytes(long change) {
    DEVICE_BYTES.addAndGet(change);
  }

  /** Device memory held now, in bytes. */
  public static long deviceBytes() {
    return DEVICE_BYTES.get();
  }

  private static final AtomicLong SUPPRESSED = new AtomicLong();

  /** Records a failure during clean-up after another failure. */
  public static void suppressed() {
    SUPPRESSED.incrementAndGet();
  }

  /** Number held now. */
  public static long count(Kind kind) {
    return of(kind).get();
  }

  /** Number held now, of all kinds. */
  public static long total() {
    return LIVE.values().stream().mapToLong(AtomicLong::get).sum();
  }
}
