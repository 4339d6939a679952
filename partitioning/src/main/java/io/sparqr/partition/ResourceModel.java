/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;
import java.util.List;

/**
 * The resources for which the tree is cut: the workers (one task slot group or one device each) and
 * the network between them.
 *
 * @param workers at least one
 * @param networkBytesPerSecond bandwidth between two workers
 * @param levelSeconds fixed cost of a level: a Spark stage with the latency of its shuffle
 * @param blockBytesPerSecond bytes of contribution blocks that a task hands to another per second,
 *     on the same worker too: out of the backend's memory, as checked frames through the shuffle,
 *     and back
 */
public record ResourceModel(
    List<Worker> workers,
    double networkBytesPerSecond,
    double levelSeconds,
    double blockBytesPerSecond)
    implements Serializable {

  /**
   * Default bytes of contribution blocks per second between the tasks of devices: 0.46 GB took 1.5
   * s more than none on an H100's host.
   */
  public static final double DEVICE_BLOCKS = 3e8;

  /** Seconds of a stage, and of its tasks' begin, on the devices of one JVM. */
  public static final double DEVICE_LEVEL_SECONDS = 0.01;

  /** Default bytes per second between two workers. */
  public static final double NETWORK = 1e9;

  /**
   * Default flops per second of an executor without a device on large fronts, for estimates before
   * a solve. Only ratios of estimates depend on it.
   */
  public static final double EXECUTOR_FLOPS = 3e10;

  /** Default seconds of a Spark stage. */
  public static final double LEVEL_SECONDS = 0.1;

  /**
   * One place where a subtree task can run.
   *
   * @param name as in reports, such as "executor 3" or "executor 3, device 1"
   * @param flopsPerSecond rate on large fronts
   * @param bytesPerSecond rate of assembling and packing fronts, on a device also of the transfers:
   *     it dominates for small fronts
   * @param memoryBytes memory available to a task
   * @param device whether it is a GPU
   */
  public record Worker(
      String name, double flopsPerSecond, double bytesPerSecond, long memoryBytes, boolean device)
      implements Serializable {

    private static final double HOST_BYTES_PER_SECOND = 4e9;

    /** Checks the rates. */
    public Worker {
      if (!(flopsPerSecond > 0) || !(bytesPerSecond > 0) || memoryBytes < 0) {
        throw new IllegalArgumentException(name + " needs positive rates");
      }
    }

    /** Cores of one executor. */
    public static Worker cpu(String name, double flopsPerSecond, long memoryBytes) {
      return new Worker(name, flopsPerSecond, HOST_BYTES_PER_SECOND, memoryBytes, false);
    }

    /** A GPU of an executor. */
    public static Worker gpu(String name, DeviceModel device) {
      return new Worker(
          name, device.flopsPerSecond(), device.bytesPerSecond(), device.memoryBytes(), true);
    }

    /**
     * Average flops per second on fronts of this intensity (flops per byte): see {@link
     * DeviceModel}.
     */
    public double flopsPerSecond(double intensity) {
      return intensity > 0 ? 1 / (1 / flopsPerSecond + 1 / (intensity * bytesPerSecond)) : 0;
    }

    /** A worker with parts of the rates. */
    public Worker share(double ofFlops, double ofBytes) {
      return new Worker(
          name, ofFlops * flopsPerSecond, ofBytes * bytesPerSecond, memoryBytes, device);
    }

    /** A copy under another name. */
    public Worker named(String other) {
      return new Worker(other, flopsPerSecond, bytesPerSecond, memoryBytes, device);
    }
  }

  /** Copies the list and checks the rates. */
  public ResourceModel {
    workers = List.copyOf(workers);
    if (workers.isEmpty()
        || !(networkBytesPerSecond > 0)
        || !(levelSeconds >= 0)
        || !(blockBytesPerSecond > 0)) {
      throw new IllegalArgumentException("a resource model needs workers and positive rates");
    }
  }

  /** A model without a cost of blocks beside the network's. */
  public ResourceModel(List<Worker> workers, double networkBytesPerSecond, double levelSeconds) {
    this(workers, networkBytesPerSecond, levelSeconds, Double.POSITIVE_INFINITY);
  }

  /** The model of some of the workers, by index. */
  public ResourceModel only(int... some) {
    return new ResourceModel(
        java.util.Arrays.stream(some).mapToObj(workers::get).toList(),
        networkBytesPerSecond,
        levelSeconds,
        blockBytesPerSecond);
  }

  /** count CPU workers of equal rate and memory; 1 GB/s network, 0.1 s per level. */
  public static ResourceModel uniform(int count, double flopsPerSecond, long memoryBytes) {
    var list = new java.util.ArrayList<Worker>();
    for (int i = 0; i < count; i++) {
      list.add(Worker.cpu("worker " + i, flopsPerSecond, memoryBytes));
    }
    return new ResourceModel(list, NETWORK, LEVEL_SECONDS);
  }
}
