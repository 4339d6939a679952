/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.numeric.tall.ChunkReducer;
import io.sparqr.numeric.tall.TallFront;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceLease;
import io.sparqr.spark.internals.SparkProcess;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.symbolic.Tuning;
import io.sparqr.threads.Crew;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;

/**
 * R alone of a partition's rows: on a device of its executor from a full chunk of rows on, else on
 * the task's core. The rows and the backend decide on its bits.
 */
final class PartitionTriangle {

  /**
   * Columns from which a device pays beside all cores of its host: a chunk of 32 MB then takes
   * sixteen of them 13 ms, a device 5 to 9 (benchmarks/history/2026-11-29-h200-four-devices.txt).
   */
  private static final int LEAST_COLUMNS = 512;

  private final DenseRows rows;
  private final int partition;
  private final Backends.Chosen backend;
  private final boolean required;
  private final Tuning tuning;

  private PartitionTriangle(int partition, DenseRows rows, BackendChoice choice, Tuning tuning) {
    this.tuning = tuning;
    this.rows = rows;
    this.partition = partition;
    required = choice == BackendChoice.REQUIRE_CUDA;
    // tasks in the driver's JVM have all of its devices in turn, others those that Spark gave them
    boolean here = SparkProcess.executor().isEmpty();
    backend =
        Backends.choose(
            choice == BackendChoice.CPU
                ? new DeviceVerdict.Refuse("asked for")
                : new DeviceVerdict.Use(required, "R alone is wanted"),
            devices -> DeviceLease.devices(TaskContext.get(), partition, devices, here, false));
  }

  /**
   * Nothing if there are no rows. 2 m n^2 flops; for a device 32 MB, at least n rows, and a
   * triangle in each task, and once in the executor four times that on the host and on the device.
   *
   * @throws io.sparqr.error.BackendUnavailableException if a device is required and there is none
   */
  static Iterator<Triangle> of(
      int partition, Iterator<?> elements, BackendChoice choice, Tuning tuning) {
    var rows = new DenseRows(partition, elements);
    if (!rows.hasNext()) {
      return Collections.emptyIterator();
    }
    return List.of(new PartitionTriangle(partition, rows, choice, tuning).made()).iterator();
  }

  private Triangle made() {
    double[] first = rows.next();
    boolean pays = required || first.length >= LEAST_COLUMNS;
    return backend.onDevice() && pays ? onDevice(first) : onHost(first);
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

  /** On the device from the first full chunk on; a partition without one is reduced here. */
  private Triangle onDevice(double[] first) {
    int n = first.length;
    int chunk = ChunkReducer.chunkRows(n, tuning.chunkDoubles());
    try (DeviceReducers.Hold hold = DeviceReducers.ofJvm().hold(backend, n, chunk, tuning);
        var front = new TallFront(List.of(hold.reducer))) {
      front.row(first);
      while (rows.hasNext()) {
        front.row(rows.next());
      }
      if (!front.hasBegun() && !required) {
        DenseQr.Builder builder = builder(n);
        double[] row = new double[n];
        for (int i = 0; i < rows.count(); i++) {
          front.copyRow(i, row);
          builder.row(row);
        }
        return triangle(builder.factor());
      }
      int height = (int) Math.min(n, rows.count());
      double[] r = top(front.r(), n, height);
      return new Triangle(partition, height, n, r, rows.count(), rows.checksum()).onDevices(1);
    }
  }

  /** The first rows of R. */
  private static double[] top(double[] r, int n, int height) {
    if (height == n) {
      return r;
    }
    double[] some = new double[height * n];
    for (int k = 0; k < n; k++) {
      System.arraycopy(r, k * n, some, k * height, height);
    }
    return some;
  }
}
