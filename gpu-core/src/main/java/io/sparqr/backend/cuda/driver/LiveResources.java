/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import io.sparqr.jvm.JvmPart;
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

  private static final JvmPart<LiveResources> OF_JVM =
      JvmPart.holding("device resources", LiveResources::new, LiveResources::held);

  private final Map<Kind, AtomicLong> live = new EnumMap<>(Kind.class);
  private final AtomicLong deviceBytes = new AtomicLong();
  private final AtomicLong suppressed = new AtomicLong();

  private LiveResources() {
    for (Kind kind : Kind.values()) {
      live.put(kind, new AtomicLong());
    }
  }

  private static AtomicLong of(Kind kind) {
    return Objects.requireNonNull(OF_JVM.get().live.get(kind));
  }

  static void opened(Kind kind) {
    of(kind).incrementAndGet();
  }

  static void closed(Kind kind) {
    of(kind).decrementAndGet();
  }

  /** Records device memory allocated, or freed (negative). */
  static void deviceBytes(long change) {
    OF_JVM.get().deviceBytes.addAndGet(change);
  }

  /** Device memory held now, in bytes. */
  public static long deviceBytes() {
    return OF_JVM.get().deviceBytes.get();
  }

  /** Records a failure during clean-up after another failure. */
  public static void suppressed() {
    OF_JVM.get().suppressed.incrementAndGet();
  }

  /** Number held now. */
  public static long count(Kind kind) {
    return of(kind).get();
  }

  /** Number held now, of all kinds. */
  public static long total() {
    return OF_JVM.get().held();
  }

  private long held() {
    return live.values().stream().mapToLong(AtomicLong::get).sum();
  }
}
