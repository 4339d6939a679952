/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.DeviceTimeline.Cause;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memory in which a device's blocks count what they do when (SparqrTimeline of timeline.cuh),
 * allocated when it is first wanted. The device's context must be current. Not thread-safe.
 *
 * <pre>
 * begin | end | tasks | unused | nanoseconds by bin and cause; 8 bytes each
 * </pre>
 */
final class TimelineMemory implements AutoCloseable {

  /** SPARQR_BINS: more than are shown, because a prediction sets their length. */
  static final int BINS = 512;

  private static final int HEAD = 4;

  /** Bytes of SparqrTimeline. */
  static final int BYTES = 8 * (HEAD + BINS * Cause.COUNTED);

  /**
   * At most as many bins until the predicted end, at least half of them; others for what takes
   * longer.
   */
  private static final int EXPECTED_BINS = 128;

  // For the length of bins alone: what a large front reaches, and a round of the chain.
  private static final double NANOS_PER_FLOP = 1e9 / 15e12;
  private static final double NANOS_PER_ROUND = 20_000;

  /** Of bins of 18 minutes. */
  private static final int MOST_SHIFT = 40;

  private final CudaDevice device;
  private final Transfers transfers;
  private @Nullable DeviceBuffer buffer;

  /** A bin is 2^shift nanoseconds. */
  private int shift;

  TimelineMemory(CudaDevice device, Transfers transfers) {
    this.device = device;
    this.transfers = transfers;
  }

  /**
   * Clears the counts, and has a launch fill them; returns when they are clear. The length of a bin
   * is a part of the seconds that the stage is roughly predicted to take.
   *
   * @param one the stage on one device
   * @param parameter of the launch
   */
  void begin(StageProgram one, int devices, ByteBuffer parameter) {
    double chain = NANOS_PER_ROUND * one.schedule().rounds();
    double work = NANOS_PER_FLOP * one.schedule().flops() / devices;
    shift = shift(Math.max(chain, work));
    DeviceBuffer to = buffer;
    if (to == null) {
      to = new DeviceBuffer(device.driver(), BYTES);
      buffer = to;
    }
    transfers.send(new Transfers.Slice(to, 0, BYTES), TimelineMemory::clear);
    StageMemory.timed(parameter, to.address(), shift);
  }

  /** The shift whose bins are the shortest of which the expected ones cover these nanoseconds. */
  static int shift(double nanos) {
    long bin = (long) (nanos / EXPECTED_BINS);
    return Math.min(MOST_SHIFT, Long.SIZE - Long.numberOfLeadingZeros(bin));
  }

  static void clear(ByteBuffer to) {
    LongBuffer words = to.asLongBuffer();
    // Blocks lower it to the first one's ticket.
    words.put(-1);
    while (words.hasRemaining()) {
      words.put(0);
    }
  }

  /**
   * Reads the counts after the launch.
   *
   * @param bundle row tiles of a bundle, which choose the kernel
   */
  DeviceTimeline read(int bundle) {
    DeviceBuffer from = buffer;
    if (from == null) {
      throw new IllegalStateException("no timeline was begun");
    }
    int slots = device.multiprocessors() * device.module().residentBlocks(bundle);
    var result = new DeviceTimeline[1];
    transfers.fetch(
        null,
        List.of(new Transfers.Slice(from, 0, BYTES)),
        b -> result[0] = timeline(device.name(), slots, shift, b));
    return result[0];
  }

  /** The timeline whose counts are here. */
  static DeviceTimeline timeline(String device, int slots, int shift, ByteBuffer counts) {
    LongBuffer words = counts.asLongBuffer();
    long begin = words.get();
    long end = words.get();
    long tasks = words.get();
    words.get();
    long[] counted = new long[BINS * Cause.COUNTED];
    words.get(counted);
    // Without a task nothing has begun.
    long nanos = tasks == 0 ? 0 : end - begin;
    return DeviceTimeline.of(device, slots, nanos, tasks, 1L << shift, counted);
  }

  @Override
  public void close() {
    if (buffer != null) {
      DeviceBuffer old = buffer;
      buffer = null;
      old.close();
    }
  }
}
