/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.transfer.OrderedUpload;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.layout.DeviceStage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The task lists of a stage on their way to several devices. Each device's lane writes and sends
 * its own, so they arrive beside each other.
 */
final class TeamLists implements AutoCloseable {

  /**
   * Launches end where 1/64, 1/16 and 1/4 of all tasks are launched, and at the end, so that
   * devices begin long before the last list is written. Few launches, because each waits for the
   * one before.
   */
  private static final int[] PARTS = {64, 16, 4};

  private final List<DeviceLane> lanes;
  private final int[] ends;

  /** By device; empty: the lists are there. */
  private final List<OrderedUpload> sending = new ArrayList<>();

  /**
   * Begins to send.
   *
   * @param lanes of the stage's devices
   * @param there whether the lists of the stage are on the devices
   * @param pieceBytes bytes of a piece, about
   */
  TeamLists(List<DeviceLane> lanes, DeviceStage stage, boolean there, int pieceBytes) {
    this.lanes = lanes;
    ends = there ? new int[] {stage.schedule().rounds()} : ends(stage);
    boolean done = false;
    try {
      for (int d = 0; d < lanes.size() && !there; d++) {
        DeviceLane lane = lanes.get(d);
        lane.device().bind();
        StageSchedule list = stage.programs().get(d).schedule();
        var tasks =
            new OrderedUpload(lane.transfers())
                .tasks(lane.memory().get(Part.TASKS), list, pieceBytes);
        sending.add(tasks.start(lane.workers()));
      }
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /** Ascending numbers of rounds, all at the end. */
  private static int[] ends(DeviceStage stage) {
    int rounds = stage.schedule().rounds();
    long all = before(stage, rounds);
    int[] ends = new int[PARTS.length + 1];
    int n = 0;
    for (int r = 1; r < rounds && n < PARTS.length; r++) {
      if (before(stage, r) >= all / PARTS[n]) {
        ends[n++] = r;
      }
    }
    ends[n++] = rounds;
    return Arrays.copyOf(ends, n);
  }

  /** Tasks of all devices in rounds before {@code round}. */
  private static long before(DeviceStage stage, int round) {
    return stage.programs().stream().mapToLong(p -> p.schedule().roundStart(round)).sum();
  }

  /** Numbers of rounds at which launches end, ascending. */
  int[] ends() {
    return ends;
  }

  /** Makes later work of a stream wait for a device's lists of all rounds before {@code end}. */
  void await(int device, int end, CudaStream stream) {
    if (!sending.isEmpty() && end > 0) {
      sending.get(device).await(end - 1, stream);
    }
  }

  /** Bytes of all lists that were not there. */
  long bytes() {
    return sending.stream().mapToLong(OrderedUpload::bytes).sum();
  }

  /** Waits for the arrival of all; throws the first failure. */
  @Override
  public void close() {
    Throwable failure = null;
    for (int d = 0; d < sending.size(); d++) {
      lanes.get(d).device().bind();
      try {
        sending.get(d).close();
      } catch (RuntimeException | Error e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure instanceof Error e) {
      throw e;
    }
    if (failure != null) {
      throw (RuntimeException) failure;
    }
  }
}
