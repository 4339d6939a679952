/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.io.Serializable;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.broadcast.Broadcast;

/**
 * The plan on its way to the executors: a broadcast of bytes, for any serializer that Spark is set
 * to, decoded once a JVM.
 */
public final class PlanHandle implements Serializable {

  private static final long serialVersionUID = 1;
  private static final Map<String, SoftReference<SolvePlan>> DECODED = new ConcurrentHashMap<>();

  private final String key = UUID.randomUUID().toString();
  private final Broadcast<byte[]> bytes;

  /** The driver's own reference keeps the plan from being decoded there. */
  private final transient SolvePlan plan;

  /** A handle of a plan and of the broadcast of {@link #encode}. */
  public PlanHandle(SolvePlan plan, Broadcast<byte[]> bytes) {
    this.plan = plan;
    this.bytes = bytes;
    DECODED.values().removeIf(r -> r.get() == null);
    DECODED.put(key, new SoftReference<>(plan));
  }

  /** What is to be broadcast. */
  public static byte[] encode(SolvePlan plan) {
    return PlanCodec.encode(plan);
  }

  /** The plan. */
  public SolvePlan value() {
    if (plan != null) {
      return plan;
    }
    SoftReference<SolvePlan> known = DECODED.get(key);
    SolvePlan decoded = known == null ? null : known.get();
    return decoded != null ? decoded : decode();
  }

  private SolvePlan decode() {
    synchronized (DECODED) {
      SoftReference<SolvePlan> known = DECODED.get(key);
      SolvePlan decoded = known == null ? null : known.get();
      if (decoded == null) {
        decoded = PlanCodec.decode(bytes.value());
        DECODED.values().removeIf(r -> r.get() == null);
        DECODED.put(key, new SoftReference<>(decoded));
      }
      return decoded;
    }
  }

  /** Lets this JVM forget the decoded plan. */
  public void forget() {
    DECODED.remove(key);
  }
}
