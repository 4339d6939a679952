/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SerializableWritable;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * The plan on its way to the executors: a broadcast that writes itself frame by frame ({@link
 * PlanStream}) and is read once a JVM.
 *
 * <p>What the driver holds of it: the plan itself, to which Spark's block manager has a reference
 * too; and, where executors are other JVMs, the blocks of 4 MB that they fetch, compressed, as long
 * as the broadcast lives (MEMORY_AND_DISK: Spark moves them to disk for want of memory). While it
 * is written, a frame of 256 kB besides. A local master's tasks find the plan where it is, and
 * nothing is written at all; unless the jar is a Spark Connect session's own (an artifact): a local
 * master loads it once for the session and once for the session's tasks, which know nothing of each
 * other's statics and cannot take each other's objects, so the plan goes as bytes.
 */
public final class PlanHandle implements Serializable {

  private static final long serialVersionUID = 1;
  private static final Map<String, SoftReference<SolvePlan>> KNOWN = new ConcurrentHashMap<>();

  private final String key = UUID.randomUUID().toString();

  /** Null with a local master. Spark's own class, which Kryo knows how to write. */
  private final Broadcast<SerializableWritable<PlanStream>> broadcast;

  /** The plan's frames for local tasks whose classes are not the driver's; else null. */
  private final Broadcast<byte[][]> packed;

  /** The driver's own reference keeps the plan from being read there, and from being forgotten. */
  private final transient SolvePlan plan;

  private PlanHandle(
      SolvePlan plan,
      Broadcast<SerializableWritable<PlanStream>> broadcast,
      Broadcast<byte[][]> packed) {
    this.plan = plan;
    this.broadcast = broadcast;
    this.packed = packed;
    know(plan);
  }

  /**
   * Sends a plan, until {@link #release}.
   *
   * @param local whether the tasks are in this JVM
   */
  public static PlanHandle of(JavaSparkContext context, SolvePlan plan, boolean local) {
    if (!local) {
      var stream = new SerializableWritable<>(new PlanStream(plan));
      return new PlanHandle(plan, context.broadcast(stream), null);
    }
    return new PlanHandle(plan, null, tasksShareClasses() ? null : context.broadcast(pack(plan)));
  }

  /** For tasks in this JVM, without Spark. */
  public static PlanHandle local(SolvePlan plan) {
    return new PlanHandle(plan, null, null);
  }

  /** Whether a local master's tasks have this very class, found by their loader's parents. */
  private static boolean tasksShareClasses() {
    var tasks = SparkEnv.get().serializer().defaultClassLoader();
    ClassLoader own = PlanHandle.class.getClassLoader();
    ClassLoader loader = tasks.isDefined() ? tasks.get() : own;
    while (loader != null && loader != own) {
      loader = loader.getParent();
    }
    return loader == own;
  }

  private static byte[][] pack(SolvePlan plan) {
    var frames = new ArrayList<byte[]>();
    try {
      PlanCodec.write(plan, frames::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return frames.toArray(new byte[0][]);
  }

  private static SolvePlan unpack(byte[][] frames) {
    Iterator<byte[]> next = Arrays.asList(frames).iterator();
    try {
      return PlanCodec.read(next::next);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void know(SolvePlan known) {
    KNOWN.values().removeIf(r -> r.get() == null);
    KNOWN.put(key, new SoftReference<>(known));
  }

  /** The plan. */
  public SolvePlan value() {
    if (plan != null) {
      return plan;
    }
    SolvePlan known = known();
    return known != null ? known : read();
  }

  private SolvePlan known() {
    SoftReference<SolvePlan> known = KNOWN.get(key);
    return known == null ? null : known.get();
  }

  private SolvePlan read() {
    synchronized (KNOWN) {
      SolvePlan known = known();
      if (known != null) {
        return known;
      }
      if (broadcast == null && packed == null) {
        throw new IllegalStateException("the plan of a factorization that is closed");
      }
      SolvePlan read = packed != null ? unpack(packed.value()) : broadcast.value().value().plan();
      know(read);
      return read;
    }
  }

  /** Nobody asks for the plan any more; on the driver. */
  public void release() {
    KNOWN.remove(key);
    if (broadcast != null) {
      broadcast.destroy();
    }
    if (packed != null) {
      packed.destroy();
    }
  }
}
