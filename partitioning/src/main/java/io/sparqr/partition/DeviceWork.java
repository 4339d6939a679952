/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.TileModel;
import java.util.Arrays;

/**
 * What a task's fronts cost on devices of one kind, with the link between these. Fronts are
 * numbered within the task, children before parents; arrays are shared and must not be modified.
 *
 * @param parent front above, or -1
 * @param seconds of each front on one device
 * @param chainSeconds the part of them that several devices do not share: the tasks that factorize,
 *     one after the other
 * @param frontBytes bytes of each front
 * @param blockBytes bytes of each front's contribution block
 * @param mostDevices that can share a front, by its column tiles; 1: it is not shared
 * @param memoryBytes of a device
 * @param link between two devices
 */
public record DeviceWork(
    int[] parent,
    double[] seconds,
    double[] chainSeconds,
    long[] frontBytes,
    long[] blockBytes,
    int[] mostDevices,
    long memoryBytes,
    Link link) {

  /** Rounds of a front for each of its column tiles, about: a third more than one (SQR 3.1). */
  private static final double ROUNDS = 4 / 3.0;

  /** Seconds of a round of which nothing but its Factorize tasks is left, on an H100. */
  private static final double ROUND_SECONDS = 2.5e-5;

  /** Column tiles that each device has at least, where a front is shared. */
  private static final int LEAST_TILES = 8;

  /**
   * The link between two devices of a host.
   *
   * @param bytesPerSecond of a copy
   * @param latencySeconds until a task sees what another device has announced
   */
  public record Link(double bytesPerSecond, double latencySeconds) {

    /** Checks the numbers. */
    public Link {
      if (!(bytesPerSecond > 0) || !(latencySeconds >= 0)) {
        throw new IllegalArgumentException("a link needs a positive rate and a latency");
      }
    }

    /**
     * NVLink of the fourth generation: 18 links of 25 GB/s each way, of which copies of many small
     * rectangles are taken to reach less than half.
     */
    public static Link nvlink() {
      return new Link(2e11, 4e-6);
    }

    /** Devices without peer access: through page-locked memory of the host, there and back. */
    public static Link host() {
      return new Link(2.5e10, 2e-5);
    }
  }

  /** Checks that all arrays have the same length and that children come first. */
  public DeviceWork {
    for (int f = 0; f < parent.length; f++) {
      if (parent[f] >= 0 && parent[f] <= f) {
        throw new IllegalArgumentException("front " + f + " comes after its parent " + parent[f]);
      }
      if (!(chainSeconds[f] >= 0) || !(seconds[f] >= chainSeconds[f])) {
        throw new IllegalArgumentException(
            "front %d: %s s, of which %s s in a chain".formatted(f, seconds[f], chainSeconds[f]));
      }
    }
  }

  /**
   * The work of some fronts of an analysis, by the model of the plan.
   *
   * @param fronts of the task, ascending
   * @param rhs right-hand sides carried along
   */
  public static DeviceWork of(
      SymbolicAnalysis analysis,
      int[] fronts,
      int rhs,
      TileModel tiles,
      DeviceModel device,
      Link link) {
    var cost = new TreeCost(analysis, rhs, false, 0);
    var worker = ResourceModel.Worker.gpu("device", device);
    int n = fronts.length;
    int[] parent = new int[n];
    double[] seconds = new double[n];
    double[] chain = new double[n];
    long[] frontBytes = new long[n];
    long[] blockBytes = new long[n];
    int[] most = new int[n];
    for (int k = 0; k < n; k++) {
      int f = fronts[k];
      int p = analysis.parent(f) < 0 ? -1 : Arrays.binarySearch(fronts, analysis.parent(f));
      parent[k] = Math.max(-1, p);
      seconds[k] = cost.seconds(f, worker);
      long pivots = Math.min(analysis.fm(f), analysis.fn(f));
      double rounds = ROUNDS * TileModel.tiles(pivots);
      chain[k] = Math.min(seconds[k], rounds * ROUND_SECONDS);
      frontBytes[k] = cost.frontBytes[f];
      blockBytes[k] = cost.blockBytes[f];
      boolean small = analysis.fm(f) == 0 || tiles.small(analysis.fm(f), analysis.fn(f), rhs);
      long columnTiles = TileModel.tiles((long) analysis.fn(f) + rhs);
      most[k] = small ? 1 : (int) Math.max(1, columnTiles / LEAST_TILES);
    }
    return new DeviceWork(
        parent, seconds, chain, frontBytes, blockBytes, most, device.memoryBytes(), link);
  }

  /** Number of fronts. */
  public int fronts() {
    return parent.length;
  }

  /**
   * Seconds of a front on some devices: what they share, what they do not, and V and T on the link,
   * which are half of the front; the columns of one device wait for these in each round.
   */
  double seconds(int f, int devices) {
    if (devices == 1) {
      return seconds[f];
    }
    double shared = (seconds[f] - chainSeconds[f]) / devices;
    double waits = chainSeconds[f] / ROUND_SECONDS * link.latencySeconds();
    double others = (devices - 1.0) / devices;
    // V on its way beside the products; then R and the block to the home.
    double beside = others * frontBytes[f] / 2 / link.bytesPerSecond();
    return chainSeconds[f] + waits + Math.max(shared, beside) + beside;
  }

  /** Seconds of a front's block on its way. */
  double crossing(int f) {
    return link.latencySeconds() + blockBytes[f] / link.bytesPerSecond();
  }

  /**
   * Bytes that a device holds for a front: where it is shared, VT slots that are not used again.
   */
  long bytes(int f, boolean shared) {
    return shared ? FrontMemory.add(frontBytes[f], frontBytes[f] / 3) : frontBytes[f];
  }
}
