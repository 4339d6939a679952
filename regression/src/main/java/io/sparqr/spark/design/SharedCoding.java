/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.wire.OwnObjects;
import java.io.Serializable;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * A coding for the executors, broadcast as bytes, so that every serializer of Spark can handle it
 * and tasks with another class loader can read it (those of a local master in a Spark Connect
 * session that has the jar as an artifact). The coding is decoded once per JVM.
 */
final class SharedCoding implements Serializable {

  private static final long serialVersionUID = 2;
  private static final Map<String, SoftReference<Coding>> KNOWN = new ConcurrentHashMap<>();

  private final String key = UUID.randomUUID().toString();
  private final Broadcast<byte[]> bytes;
  private transient volatile Coding coding;

  private SharedCoding(Coding coding, Broadcast<byte[]> bytes) {
    this.coding = coding;
    this.bytes = bytes;
    know(coding);
  }

  /** Broadcasts a coding, until {@link #destroy}. */
  static SharedCoding of(JavaSparkContext context, Coding coding) {
    return new SharedCoding(coding, context.broadcast(OwnObjects.bytes(coding)));
  }

  private void know(Coding known) {
    KNOWN.values().removeIf(r -> r.get() == null);
    KNOWN.put(key, new SoftReference<>(known));
  }

  private Coding known() {
    SoftReference<Coding> known = KNOWN.get(key);
    return known == null ? null : known.get();
  }

  Coding coding() {
    Coding here = coding;
    if (here == null) {
      here = known();
      coding = here = here == null ? read() : here;
    }
    return here;
  }

  private Coding read() {
    synchronized (KNOWN) {
      Coding known = known();
      if (known == null) {
        known = OwnObjects.object(bytes.value(), Coding.class);
        know(known);
      }
      return known;
    }
  }

  /** Releases the coding on the driver, when it is no longer needed. */
  void destroy() {
    KNOWN.remove(key);
    bytes.destroy();
  }
}
