/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.cuda.transfer.Workers;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor.Slice;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What an executor holds on one device: memory of a stage, a stream of its rounds, transfers and
 * their threads. Not thread-safe; holds its device memory until close().
 */
final class DeviceLane implements AutoCloseable {

  private final DeviceSession session;
  private final StageMemory memory;
  private final CudaStream compute;
  private final Transfers transfers;
  private final Workers workers;
  private final TimelineMemory timeline;
  private boolean closed;

  /** A lane on a session whose context is current. */
  DeviceLane(DeviceSession session, int threads) {
    this.session = session;
    CudaDevice device = session.device();
    workers = new Workers(device, threads);
    memory = new StageMemory(device.driver());
    compute = new CudaStream(device.driver());
    transfers = new Transfers(device.driver(), session.pinned());
    timeline = new TimelineMemory(device, transfers);
  }

  DeviceSession session() {
    return session;
  }

  CudaDevice device() {
    return session.device();
  }

  StageMemory memory() {
    return memory;
  }

  CudaStream compute() {
    return compute;
  }

  Transfers transfers() {
    return transfers;
  }

  Workers workers() {
    return workers;
  }

  TimelineMemory timeline() {
    return timeline;
  }

  /** Device memory that a stage may take: what is free, and what is held for stages and rows. */
  long availableBytes() {
    device().bind();
    long held = memory.held() + session.residents().bytes();
    return (long) (0.95 * (device().freeBytes() + held));
  }

  /** Frees rows of R of earlier tasks if a stage needs their memory. */
  void makeRoom(StageProgram program) {
    long more = program.deviceBytes() - memory.held();
    while (!session.residents().isEmpty()
        && device().freeBytes() < more
        && session.residents().evictOldest()) {
      // One after the other.
    }
  }

  /** The launch parameter of a list that fetches rows. */
  @FunctionalInterface
  interface Parameter {
    ByteBuffer of(DeviceBuffer tasks, DeviceBuffer out);
  }

  /**
   * Runs PACK_ROWS tasks on the last stage; see {@link
   * io.sparqr.backend.staged.executor.RoundExecutor#fetch}.
   *
   * @param clear whether places to which no task writes are to be 0
   */
  double[] fetch(
      ByteBuffer tasks, int count, int outDoubles, boolean clear, int bundle, Parameter parameter) {
    if (count == 0) {
      return new double[outDoubles];
    }
    device().bind();
    int bytes = Math.multiplyExact(count, TaskLayout.TASK_BYTES);
    try (var list = new DeviceBuffer(device().driver(), bytes);
        var out = new DeviceBuffer(device().driver(), 8L * outDoubles)) {
      PinnedBuffer buffer = session.pinned().acquire(Math.max(bytes, 8L * outDoubles + 8));
      try {
        buffer.view(0, bytes).put(tasks.duplicate().position(0).limit(bytes));
        compute.upload(list.at(0), buffer, 0, bytes);
        if (clear) {
          compute.fill(out.at(0), (byte) 0, 8L * outDoubles);
        }
        device().module().launch(bundle, compute, parameter.of(list, out), 0, count);
        compute.download(buffer, 0, out.at(0), 8L * outDoubles);
        compute.download(buffer, 8L * outDoubles, memory.get(Part.PROGRESS).at(0), 8);
        compute.synchronize();
        StageMemory.checkKinds(buffer.view(8 * outDoubles, 8 * outDoubles + 8).getLong());
        double[] result = new double[outDoubles];
        buffer.view(0, 8 * outDoubles).asDoubleBuffer().get(result);
        return result;
      } finally {
        session.pinned().release(buffer);
      }
    }
  }

  /** Copies parts of a buffer of doubles to the host. */
  void download(DeviceBuffer source, List<Slice> slices) {
    int step = Transfers.PIECE_BYTES / 8;
    var pieces = new ArrayList<Piece>();
    for (Slice s : slices) {
      int length = s.target().length;
      for (long at = 0; at < length; at += step) {
        pieces.add(new Piece(s, (int) at, (int) Math.min(step, length - at)));
      }
    }
    workers.run(
        pieces.size(),
        i -> {
          Piece p = pieces.get(i);
          var slice = new Transfers.Slice(source, 8 * (p.of.from() + p.at), 8 * p.count);
          double[] target = p.of.target();
          transfers.fetch(null, List.of(slice), b -> b.asDoubleBuffer().get(target, p.at, p.count));
        });
  }

  /** This many doubles of a slice, from index {@code at}. */
  private record Piece(Slice of, int at, int count) {}

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      device().bind();
      workers.close();
      memory.close();
      timeline.close();
      compute.close();
      transfers.close();
    }
  }
}
