/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import java.io.Serializable;
import java.util.Optional;
import org.apache.spark.broadcast.Broadcast;

/** A value sent to the tasks: by a broadcast, or as it is where they share this JVM's objects. */
@FunctionalInterface
public interface Sent<T> extends Serializable {

  T value();

  /** Sends a value to an engine's tasks, for them to use until {@code held} is closed. */
  static <T> Sent<T> to(Engine engine, T value, Held held) {
    Optional<Exchange> here = Exchange.of(engine);
    if (here.isPresent()) {
      @SuppressWarnings("unchecked")
      var type = (Class<T>) value.getClass();
      Exchange exchange = here.get();
      held.onClose(exchange::close);
      exchange.put(0, value);
      return () -> exchange.get(0, type);
    }
    Broadcast<T> broadcast = held.keep(engine.context().broadcast(value));
    return broadcast::value;
  }
}
