/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.jvm.NamedObjects;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.internals.StoredBlocks;
import io.sparqr.spark.plan.PlanCodec;
import io.sparqr.spark.plan.PlanStream;
import io.sparqr.spark.plan.SolvePlan;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.apache.spark.SerializableWritable;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.jspecify.annotations.Nullable;

/**
 * Sends the plan to the executors: a broadcast that is written frame by frame ({@link PlanStream})
 * and read once per JVM. An executor remembers it while there is room, and once the factorization
 * is closed until it reads another one.
 *
 * <p>The driver holds the plan itself, also referenced by Spark's block manager. If executors are
 * other JVMs, it also holds compressed blocks of 4 MB for them to fetch, as long as the broadcast
 * exists (MEMORY_AND_DISK: Spark moves them to disk if memory is short), and a frame of 256 kB
 * during writing. With a local master the tasks use the plan directly and nothing is written, with
 * one exception: if the jar is an artifact of a Spark Connect session, a local master loads its
 * classes once for the session and once for the session's tasks. The two do not share static fields
 * or objects, so the plan is sent as bytes.
 */
public final class PlanHandle implements Serializable {

  private static final long serialVersionUID = 1;

  private final String key = UUID.randomUUID().toString();

  /** Null with a local master. Spark's own class, because Kryo can write it. */
  private final @Nullable Broadcast<SerializableWritable<PlanStream>> broadcast;

  /**
   * The plan's frames for local tasks with other class loaders than the driver's; otherwise null.
   */
  private final @Nullable Broadcast<byte[][]> packed;

  /**
   * A strong reference on the driver, so that the plan is neither read there nor dropped from the
   * cache.
   */
  private final transient @Nullable SolvePlan plan;

  private PlanHandle(
      SolvePlan plan,
      @Nullable Broadcast<SerializableWritable<PlanStream>> broadcast,
      @Nullable Broadcast<byte[][]> packed) {
    this.plan = plan;
    this.broadcast = broadcast;
    this.packed = packed;
    NamedObjects.ofJvm().remember(name(), plan);
  }

  private NamedObjects.Name<SolvePlan> name() {
    return new NamedObjects.Name<>(SolvePlan.class, key);
  }

  /** Sends a plan to an engine's tasks, for which it is available until {@link #release}. */
  public static PlanHandle of(Engine engine, SolvePlan plan) {
    return switch (engine.reach()) {
      case OBJECTS -> new PlanHandle(plan, null, null);
      case BYTES -> new PlanHandle(plan, null, engine.context().broadcast(pack(plan)));
      case NETWORK -> sent(engine.context(), plan);
    };
  }

  /** A handle for tasks in other JVMs. */
  public static PlanHandle sent(JavaSparkContext context, SolvePlan plan) {
    var stream = new SerializableWritable<>(new PlanStream(plan));
    return new PlanHandle(plan, context.broadcast(stream), null);
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

  /** A name of this factorization that no other has. */
  public String id() {
    return key;
  }

  /** Whether all tasks run with the driver's own objects. */
  public boolean here() {
    return broadcast == null && packed == null;
  }

  /** The plan, which each JVM reads from its broadcast once. */
  public SolvePlan value() {
    return plan != null ? plan : NamedObjects.ofJvm().rememberedOr(name(), this::read, wanted());
  }

  /** Until the broadcast is destroyed, which an executor only sees by its block. */
  private BooleanSupplier wanted() {
    var held = broadcast != null ? broadcast : packed;
    if (held == null) {
      return () -> true;
    }
    long id = held.id();
    return () -> StoredBlocks.isBroadcastHere(id);
  }

  private SolvePlan read() {
    if (packed != null) {
      return unpack(packed.value());
    }
    if (broadcast == null) {
      throw new IllegalStateException("the plan of a factorization that is closed");
    }
    return broadcast.value().value().plan();
  }

  /** Releases the plan on the driver, when it is no longer needed. */
  public void release() {
    NamedObjects.ofJvm().drop(name());
    if (broadcast != null) {
      broadcast.destroy();
    }
    if (packed != null) {
      packed.destroy();
    }
  }
}
