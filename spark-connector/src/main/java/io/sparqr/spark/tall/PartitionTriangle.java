/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.FatalCudaException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.tall.TallFront;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceLease;
import io.sparqr.spark.factor.DyingExecutor;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;

/**
 * R alone of a partition's rows: on a device of its executor from a full chunk of rows on, else on
 * the task's core. The rows and the backend decide on its bits.
 */
final class PartitionTriangle {

  /** Doubles of a chunk of rows: 128 MB, which a device takes some milliseconds for. */
  private static final int CHUNK = 1 << 24;

  private static final int MOST_THREADS = 8;

  private final DenseRows rows;
  private final int partition;
  private final Backends.Chosen backend;
  private final boolean required;

  private PartitionTriangle(int partition, DenseRows rows, BackendChoice choice, boolean local) {
    this.rows = rows;
    this.partition = partition;
    required = choice == BackendChoice.REQUIRE_CUDA;
    backend =
        Backends.choose(
            choice == BackendChoice.CPU
                ? new DeviceVerdict.Refuse("asked for")
                : new DeviceVerdict.Use(required, "R alone is wanted"),
            devices -> DeviceLease.devices(TaskContext.get(), partition, devices, local, false));
  }

  /**
   * Nothing if there are no rows. 2 m n^2 flops; 256 MB and a triangle on the host, twice that on a
   * device.
   *
   * @param local whether the master is a local one
   * @throws io.sparqr.error.BackendUnavailableException if a device is required and there is none
   */
  static Iterator<Triangle> of(
      int partition, Iterator<?> elements, BackendChoice choice, boolean local) {
    var rows = new DenseRows(partition, elements);
    if (!rows.hasNext()) {
      return Collections.emptyIterator();
    }
    return List.of(new PartitionTriangle(partition, rows, choice, local).made()).iterator();
  }

  private Triangle made() {
    double[] first = rows.next();
    return backend.onDevice() ? buffered(first) : onHost(first);
  }

  private Triangle onHost(double[] first) {
    DenseQr.Builder builder = builder(first.length).row(first);
    while (rows.hasNext()) {
      builder.row(rows.next());
    }
    return triangle(builder.factor());
  }

  private static DenseQr.Builder builder(int columns) {
    return DenseQr.builder(BlasLoader.kernels(), columns, Crew.ALONE);
  }

  private Triangle triangle(DenseQr qr) {
    return new Triangle(
        partition, qr.height(), qr.columns(), qr.r(), rows.count(), rows.checksum());
  }

  /** Looks first whether there is a full chunk. */
  private Triangle buffered(double[] first) {
    int n = first.length;
    int most = TallFront.chunkRows(n, CHUNK);
    double[] buffer = Arrays.copyOf(first, n * Math.min(most, 64));
    int count = 1;
    while (count < most && rows.hasNext()) {
      if ((count + 1) * n > buffer.length) {
        buffer = Arrays.copyOf(buffer, n * Math.min(most, 2 * count));
      }
      System.arraycopy(rows.next(), 0, buffer, count * n, n);
      count++;
    }
    if (count == most || required) {
      return onDevice(buffer, count, n);
    }
    DenseQr.Builder builder = builder(n);
    double[] row = new double[n];
    for (int i = 0; i < count; i++) {
      System.arraycopy(buffer, i * n, row, 0, n);
      builder.row(row);
    }
    return triangle(builder.factor());
  }

  private Triangle onDevice(double[] buffer, int count, int n) {
    int threads = Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors());
    var lane = new Leased(TaskContext.get(), backend);
    int chunk = Math.max(n, count);
    try (var front = new TallFront(List.of(lane), n, chunk, threads)) {
      front.rows(buffer, 0, count);
      while (rows.hasNext()) {
        front.row(rows.next());
      }
      double[] r = front.r(BlasLoader.kernels());
      int height = (int) Math.min(n, rows.count());
      double[] some = r;
      if (height < n) {
        some = new double[height * n];
        for (int k = 0; k < n; k++) {
          System.arraycopy(r, k * n, some, k * height, height);
        }
      }
      return new Triangle(partition, height, n, some, rows.count(), rows.checksum()).onDevices(1);
    }
  }

  /** Has its device for the time of a chunk, so that the tasks of an executor take turns. */
  private static final class Leased implements SubtreeFactorizer {
    private final @Nullable TaskContext task;
    private final Backends.Chosen backend;
    private @Nullable SubtreeFactorizer device;

    Leased(@Nullable TaskContext task, Backends.Chosen backend) {
      this.task = task;
      this.backend = backend;
    }

    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      List<Integer> one = List.of(backend.devices().get(0));
      try (DeviceLease lease = DeviceLease.acquire(task, one)) {
        return opened(lease.devices()).factor(problem, options);
      } catch (FatalCudaException e) {
        DyingExecutor.leave(e);
        throw e;
      }
    }

    private SubtreeFactorizer opened(List<Integer> devices) {
      SubtreeFactorizer known = device;
      if (known == null) {
        known = new CheckedFactorizer(backend.provider().create(devices), Backends.host());
        device = known;
      }
      return known;
    }

    @Override
    public String description() {
      return backend.provider().name();
    }

    @Override
    public void close() {
      if (device != null) {
        device.close();
      }
    }
  }
}
