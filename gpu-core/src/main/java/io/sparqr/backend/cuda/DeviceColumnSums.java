/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.schedule.StageProgram;
import io.sparqr.backend.schedule.SumChunks;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Consumer;

/**
 * Column sums over a stage's output buffer, by {@code sparqr_column_sums}: the rows are read where
 * they are, two words a column come down. Buffers grow and are kept; the structure of the last
 * program stays on the device. Not thread-safe; not for a device that is not bound.
 */
final class DeviceColumnSums implements AutoCloseable {

  /** Bytes of SparqrSums, the launch's parameter. */
  static final int PARAMETER_BYTES = 96;

  /** SPARQR_SUM_UNIT. */
  private static final double UNIT = 0x1p56;

  /** Columns that one thread takes over at a time. */
  private static final int STEP = 1 << 14;

  /** What lies in each buffer. */
  private enum Part {
    CHUNKS,
    START,
    NUMBER,
    COUNTS,
    SCALE,
    SQUARES,
    PROBE,
    MARKED
  }

  private final CudaDriver driver;
  private final Transfers transfers;
  private final Workers workers;
  private final DeviceBuffer[] buffer = new DeviceBuffer[Part.values().length];
  private StageProgram resident;

  DeviceColumnSums(CudaDriver driver, Transfers transfers, Workers workers) {
    this.driver = driver;
    this.transfers = transfers;
    this.workers = workers;
  }

  /** Bytes that a program's sums need on the device. */
  private static long bytes(StageProgram p, Part part) {
    long all = p.columns().count() + (long) p.rhs();
    return switch (part) {
      case CHUNKS -> SumChunks.BYTES * SumChunks.count(p);
      case START, COUNTS -> 4L * p.fronts();
      case NUMBER -> 4L * p.columns().number().length;
      case SCALE, SQUARES, PROBE -> 8 * all;
      case MARKED -> 4 * all;
    };
  }

  /** As {@link io.sparqr.backend.schedule.RoundExecutor#columnSums} has it. */
  void add(
      StageProgram program,
      StageMemory stage,
      Launch launch,
      double[] scale,
      boolean[] counts,
      double probeNorm,
      ColumnSums sums) {
    structure(program);
    int n = scale.length;
    send(Part.SCALE, n, 8, (to, from, count) -> to.asDoubleBuffer().put(scale, from, count));
    send(
        Part.COUNTS,
        counts.length,
        4,
        (to, from, count) -> {
          for (int f = from; f < from + count; f++) {
            to.putInt(counts[f] ? 1 : 0);
          }
        });
    for (Part part : List.of(Part.SQUARES, Part.PROBE, Part.MARKED)) {
      launch.stream().fill(get(part).at(0), (byte) 0, bytes(program, part));
    }
    int chunks = Math.toIntExact(SumChunks.count(program));
    if (chunks > 0) {
      launch
          .module()
          .launchSums(launch.stream(), parameter(program, stage, UNIT / probeNorm), chunks);
    }
    launch.stream().synchronize();
    workers.run((n + STEP - 1) / STEP, i -> takeOver(i * STEP, n, probeNorm, sums));
  }

  /** Where a kernel is launched. */
  record Launch(CudaModule module, CudaStream stream) {}

  private void structure(StageProgram program) {
    if (resident == program) {
      return;
    }
    resident = null;
    for (Part part : Part.values()) {
      DeviceBuffer have = buffer[part.ordinal()];
      if (have == null || have.bytes() < bytes(program, part)) {
        if (have != null) {
          buffer[part.ordinal()] = null;
          have.close();
        }
        buffer[part.ordinal()] = new DeviceBuffer(driver, bytes(program, part));
      }
    }
    ByteBuffer chunks = SumChunks.of(program);
    send(
        Part.CHUNKS,
        chunks.limit(),
        1,
        (to, from, count) -> to.put(chunks.duplicate().position(from).limit(from + count)));
    int[] start = program.columns().start();
    send(
        Part.START,
        program.fronts(),
        4,
        (to, from, count) -> to.asIntBuffer().put(start, from, count));
    int[] number = program.columns().number();
    send(
        Part.NUMBER,
        number.length,
        4,
        (to, from, count) -> to.asIntBuffer().put(number, from, count));
    resident = program;
  }

  private ByteBuffer parameter(StageProgram program, StageMemory stage, double probeUnit) {
    ByteBuffer b = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
    b.putLong(get(Part.CHUNKS).address());
    b.putLong(stage.get(StageMemory.Part.FRONTS).address());
    b.putLong(stage.get(StageMemory.Part.OUT).address());
    b.putLong(get(Part.START).address());
    b.putLong(get(Part.NUMBER).address());
    b.putLong(get(Part.SCALE).address());
    b.putLong(get(Part.COUNTS).address());
    b.putLong(get(Part.SQUARES).address());
    b.putLong(get(Part.PROBE).address());
    b.putLong(get(Part.MARKED).address());
    b.putDouble(probeUnit);
    b.putInt(program.columns().count());
    b.putInt(0);
    return b.flip();
  }

  /** Columns [from, from + STEP) of n come down and are added. */
  private void takeOver(int from, int n, double probeNorm, ColumnSums sums) {
    int count = Math.min(STEP, n - from);
    var slices =
        List.of(
            new Transfers.Slice(get(Part.SQUARES), 8L * from, 8 * count),
            new Transfers.Slice(get(Part.PROBE), 8L * from, 8 * count),
            new Transfers.Slice(get(Part.MARKED), 4L * from, 4 * count));
    Consumer<ByteBuffer> taker =
        b -> {
          for (int j = 0; j < count; j++) {
            boolean marked = b.getInt(16 * count + 4 * j) != 0;
            double squares = b.getLong(8 * j) / UNIT;
            double probe = b.getLong(8 * (count + j)) / UNIT * probeNorm;
            sums.add(from + j, marked ? Double.NaN : squares, marked ? Double.NaN : probe);
          }
        };
    transfers.fetch(null, slices, taker);
  }

  /** Writes elements [from, from + count) of an array. */
  @FunctionalInterface
  private interface Filler {
    void fill(ByteBuffer target, int from, int count);
  }

  private void send(Part part, int length, int size, Filler filler) {
    int step = Transfers.PIECE_BYTES / 4 / size;
    workers.run(
        (int) ((length + (long) step - 1) / step),
        i -> {
          int from = i * step;
          int count = Math.min(step, length - from);
          var to = new Transfers.Slice(get(part), (long) size * from, size * count);
          transfers.send(to, b -> filler.fill(b, from, count));
        });
  }

  private DeviceBuffer get(Part part) {
    return buffer[part.ordinal()];
  }

  @Override
  public void close() {
    resident = null;
    for (int i = 0; i < buffer.length; i++) {
      if (buffer[i] != null) {
        DeviceBuffer b = buffer[i];
        buffer[i] = null;
        b.close();
      }
    }
  }
}
