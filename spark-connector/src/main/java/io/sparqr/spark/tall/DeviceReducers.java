/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.error.FatalCudaException;
import io.sparqr.jvm.JvmPart;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.tall.ChunkReducer;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceLease;
import io.sparqr.spark.factor.DyingExecutor;
import io.sparqr.symbolic.Tuning;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What reduces the chunks of all tasks of this JVM, one for each device and number of columns, so
 * that lists and memory of a chunk are made once. Closed with the last task that has it.
 * Thread-safe.
 */
final class DeviceReducers {

  private static final JvmPart<DeviceReducers> OF_JVM =
      JvmPart.holding(
          "devices' chunks of tall matrices", DeviceReducers::new, DeviceReducers::count);

  private static final int MOST_THREADS = 8;

  private record Key(int device, int columns, int rows, Tuning tuning) {}

  private static final class Shared {
    private final ChunkReducer reducer;
    private int users;

    Shared(ChunkReducer reducer) {
      this.reducer = reducer;
    }
  }

  private final Map<Key, Shared> open = new HashMap<>();

  /** Of this JVM. */
  static DeviceReducers ofJvm() {
    return OF_JVM.get();
  }

  private synchronized long count() {
    return open.size();
  }

  /** A task's hold on one. */
  final class Hold implements AutoCloseable {
    private final Key key;
    final ChunkReducer reducer;

    private Hold(Key key, ChunkReducer reducer) {
      this.key = key;
      this.reducer = reducer;
    }

    @Override
    public void close() {
      release(key).ifPresent(ChunkReducer::close);
    }
  }

  /** Opens nothing yet: the first chunk does. */
  synchronized Hold hold(Backends.Chosen backend, int columns, int rows, Tuning tuning) {
    var key = new Key(backend.devices().get(0), columns, rows, tuning);
    int threads = Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors());
    Shared shared =
        open.computeIfAbsent(
            key,
            k ->
                new Shared(
                    new ChunkReducer(() -> new Leased(backend), columns, rows, threads, tuning)));
    shared.users++;
    return new Hold(key, shared.reducer);
  }

  private synchronized Optional<ChunkReducer> release(Key key) {
    Shared shared = open.get(key);
    if (shared == null || --shared.users > 0) {
      return Optional.empty();
    }
    open.remove(key);
    return Optional.of(shared.reducer);
  }

  /** Has its device for the time of a chunk; other work of the executor takes turns with it. */
  private static final class Leased implements SubtreeFactorizer {
    private final List<Integer> devices;
    private final SubtreeFactorizer device;

    Leased(Backends.Chosen backend) {
      devices = List.of(backend.devices().get(0));
      device = new CheckedFactorizer(backend.provider().create(devices), Backends.host());
    }

    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      DeviceLease lease = DeviceLease.acquire(null, devices);
      try {
        return device.factor(problem, options);
      } catch (FatalCudaException e) {
        DyingExecutor.leave(e);
        throw e;
      } finally {
        lease.close();
      }
    }

    @Override
    public String description() {
      return device.description();
    }

    @Override
    public void close() {
      device.close();
    }
  }
}
