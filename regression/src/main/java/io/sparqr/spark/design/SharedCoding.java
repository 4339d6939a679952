/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.jvm.NamedObjects;
import io.sparqr.spark.internals.StoredBlocks;
import io.sparqr.spark.wire.OwnObjects;
import java.io.Serializable;
import java.util.UUID;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * A coding for the executors, broadcast as bytes, so that every serializer of Spark can handle it
 * and tasks with another class loader can read it (those of a local master in a Spark Connect
 * session that has the jar as an artifact). The coding is decoded once per JVM.
 */
final class SharedCoding implements Serializable {

  private static final long serialVersionUID = 2;

  private final String key = UUID.randomUUID().toString();
  private final Broadcast<byte[]> bytes;
  private transient volatile Coding coding;

  private SharedCoding(Coding coding, Broadcast<byte[]> bytes) {
    this.coding = coding;
    this.bytes = bytes;
    NamedObjects.ofJvm().remember(name(), coding);
  }

  private NamedObjects.Name<Coding> name() {
    return new NamedObjects.Name<>(Coding.class, key);
  }

  /** Broadcasts a coding, until {@link #destroy}. */
  static SharedCoding of(JavaSparkContext context, Coding coding) {
    return new SharedCoding(coding, context.broadcast(OwnObjects.bytes(coding)));
  }

  Coding coding() {
    Coding here = coding;
    if (here == null) {
      long broadcast = bytes.id();
      here =
          NamedObjects.ofJvm()
              .rememberedOr(name(), this::read, () -> StoredBlocks.isBroadcastHere(broadcast));
      coding = here;
    }
    return here;
  }

  private Coding read() {
    return OwnObjects.object(bytes.value(), Coding.class);
  }

  /** Releases the coding on the driver, when it is no longer needed. */
  void destroy() {
    NamedObjects.ofJvm().drop(name());
    bytes.destroy();
  }
}
