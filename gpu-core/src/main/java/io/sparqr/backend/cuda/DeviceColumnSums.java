/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.CudaModule.SumKind;
import io.sparqr.backend.schedule.StageProgram;
import io.sparqr.backend.schedule.SumChunks;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Consumer;

/**
 * Column sums over what went into a stage and what it left, by the kernels of {@code
 * column_sums.cuh}: values are read where they are, two words a column come down. Buffers grow and
 * are kept; the structure of the last program stays on the device. Not thread-safe; the device is
 * bound by the caller.
 */
final class DeviceColumnSums implements AutoCloseable {

  /** Bytes of SparqrSums, the launch's parameter. */
  static final int PARAMETER_BYTES = 120;

  /** SPARQR_SUM_UNIT. */
  private static final double UNIT = 0x1p56;

  /** Columns that one thread takes over at a time. */
  private static final int STEP = 1 << 14;

  /** What lies in each buffer. */
  private enum Part {
    OUTPUT_CHUNKS,
    BLOCK_CHUNKS,
    ENTRY_CHUNKS,
    RHS_CHUNKS,
    START,
    NUMBER,
    COUNTS,
    SCALE,
    SQUARES,
    PROBE,
    MARKED,
    T,
    BITS
  }

  private final CudaDriver driver;
  private final Transfers transfers;
  private final Workers workers;
  private final CudaStream stream;
  private final DeviceBuffer[] buffer = new DeviceBuffer[Part.values().length];
  private final int[] chunks = new int[4];
  private StageProgram resident;

  DeviceColumnSums(CudaDriver driver, Transfers transfers, Workers workers, CudaStream stream) {
    this.driver = driver;
    this.transfers = transfers;
    this.workers = workers;
    this.stream = stream;
  }

  /** As {@link io.sparqr.backend.schedule.RoundExecutor#inputSums} has it. */
  long input(Stage stage, double[] scale, boolean[] counts, ColumnSums sums) {
    StageProgram program = stage.program;
    int fronts = program.fronts();
    boolean[] all = new boolean[fronts + program.blocks()];
    System.arraycopy(counts, 0, all, 0, fronts);
    for (int b = 0; b < program.blocks(); b++) {
      all[fronts + b] = counts[program.descriptor(fronts + b).parent()];
    }
    begin(program, scale, all);
    stream.fill(get(Part.T).at(0), (byte) 0, get(Part.T).bytes());
    launch(stage, SumKind.ENTRY, Part.ENTRY_CHUNKS, StageMemory.Part.S_VALUE);
    launch(stage, SumKind.RHS, Part.RHS_CHUNKS, StageMemory.Part.S_VALUE);
    launch(stage, SumKind.BLOCK, Part.BLOCK_CHUNKS, StageMemory.Part.INPUT);
    end(program, scale.length, sums);
    long[] bits = new long[1];
    transfers.fetch(
        null,
        List.of(new Transfers.Slice(get(Part.BITS), 0, Long.BYTES)),
        b -> bits[0] = b.getLong(0));
    return bits[0];
  }

  /** As {@link io.sparqr.backend.schedule.RoundExecutor#outputSums} has it. */
  void output(Stage stage, double[] scale, boolean[] counts, ColumnSums sums) {
    begin(stage.program, scale, counts);
    launch(stage, SumKind.OUTPUT, Part.OUTPUT_CHUNKS, StageMemory.Part.OUT);
    end(stage.program, scale.length, sums);
  }

  /** The stage that is on the device, and the kernels. */
  record Stage(StageProgram program, StageMemory memory, CudaModule module) {}

  private void begin(StageProgram program, double[] scale, boolean[] counts) {
    structure(program);
    doubles(Part.SCALE, scale);
    send(
        Part.COUNTS,
        counts.length,
        4,
        (to, from, count) -> {
          for (int f = from; f < from + count; f++) {
            to.putInt(counts[f] ? 1 : 0);
          }
        });
    for (Part part : List.of(Part.SQUARES, Part.PROBE, Part.MARKED, Part.BITS)) {
      stream.fill(get(part).at(0), (byte) 0, bytes(program, part));
    }
  }

  private void launch(Stage stage, SumKind kind, Part chunkPart, StageMemory.Part values) {
    int count = chunks[chunkPart.ordinal()];
    if (count == 0) {
      return;
    }
    StageMemory m = stage.memory;
    ByteBuffer b = ByteBuffer.allocateDirect(PARAMETER_BYTES).order(ByteOrder.nativeOrder());
    b.putLong(get(chunkPart).address());
    b.putLong(m.get(StageMemory.Part.FRONTS).address());
    b.putLong(m.get(values).address());
    b.putLong(m.get(StageMemory.Part.S_INDEX).address());
    for (Part part :
        List.of(
            Part.START,
            Part.NUMBER,
            Part.SCALE,
            Part.COUNTS,
            Part.SQUARES,
            Part.PROBE,
            Part.MARKED,
            Part.T,
            Part.BITS)) {
      b.putLong(get(part).address());
    }
    b.putDouble(UNIT / probeSize(stage.program));
    b.putInt(stage.program.columns().count());
    b.putInt(stage.program.rhs());
    stage.module.launchSums(kind, stream, b.flip(), count);
  }

  /** A power of two of which 64 are as much as a probe sum can be where all is right. */
  private static double probeSize(StageProgram program) {
    return 2.0 / 64 * Integer.highestOneBit(Math.max(1, program.columns().count()));
  }

  private void end(StageProgram program, int columns, ColumnSums sums) {
    stream.synchronize();
    double probeUnit = probeSize(program) / UNIT;
    workers.run((columns + STEP - 1) / STEP, i -> takeOver(i * STEP, columns, probeUnit, sums));
  }

  /** Columns [from, from + STEP) of n come down and are added. */
  private void takeOver(int from, int n, double probeUnit, ColumnSums sums) {
    int count = Math.min(STEP, n - from);
    var slices =
        List.of(
            new Transfers.Slice(get(Part.SQUARES), 8L * from, 8 * count),
            new Transfers.Slice(get(Part.PROBE), 8L * from, 8 * count),
            new Transfers.Slice(get(Part.PROBE), 8L * (n + from), 8 * count),
            new Transfers.Slice(get(Part.MARKED), 4L * from, 4 * count));
    Consumer<ByteBuffer> taker =
        b -> {
          for (int j = 0; j < count; j++) {
            boolean marked = b.getInt(24 * count + 4 * j) != 0;
            double squares = b.getLong(8 * j) / UNIT;
            double whole = b.getLong(8 * (count + j));
            double probe = (whole + b.getLong(8 * (2 * count + j)) * 0x1p-40) * probeUnit;
            sums.add(from + j, marked ? Double.NaN : squares, marked ? Double.NaN : probe);
          }
        };
    transfers.fetch(null, slices, taker);
  }

  private void structure(StageProgram program) {
    if (resident == program) {
      return;
    }
    resident = null;
    chunks(Part.OUTPUT_CHUNKS, SumChunks.output(program));
    chunks(Part.BLOCK_CHUNKS, SumChunks.blocks(program));
    chunks(Part.ENTRY_CHUNKS, SumChunks.entries(program));
    chunks(Part.RHS_CHUNKS, SumChunks.right(program));
    for (Part part : Part.values()) {
      if (part.ordinal() > Part.RHS_CHUNKS.ordinal()) {
        reserve(part, bytes(program, part));
      }
    }
    int[] start = program.columns().start();
    send(
        Part.START, start.length, 4, (to, from, count) -> to.asIntBuffer().put(start, from, count));
    int[] number = program.columns().number();
    send(
        Part.NUMBER,
        number.length,
        4,
        (to, from, count) -> to.asIntBuffer().put(number, from, count));
    resident = program;
  }

  private void chunks(Part part, ByteBuffer records) {
    chunks[part.ordinal()] = records.limit() / SumChunks.BYTES;
    reserve(part, records.limit());
    send(
        part,
        records.limit(),
        1,
        (to, from, count) -> to.put(records.duplicate().position(from).limit(from + count)));
  }

  private static long bytes(StageProgram p, Part part) {
    long all = p.columns().count() + (long) p.rhs();
    return switch (part) {
      case START, COUNTS -> 4L * p.columns().start().length;
      case NUMBER -> 4L * p.columns().number().length;
      case SCALE, SQUARES -> 8 * all;
      case PROBE -> 16 * all;
      case MARKED -> 4 * all;
      case T -> 8 * SumChunks.probes(p);
      case BITS -> Long.BYTES;
      default -> throw new IllegalArgumentException("chunks have sizes of their own: " + part);
    };
  }

  private void reserve(Part part, long bytes) {
    DeviceBuffer have = buffer[part.ordinal()];
    if (have == null || have.bytes() < bytes) {
      if (have != null) {
        buffer[part.ordinal()] = null;
        have.close();
      }
      buffer[part.ordinal()] = new DeviceBuffer(driver, bytes);
    }
  }

  private void doubles(Part part, double[] values) {
    send(part, values.length, 8, (to, from, count) -> to.asDoubleBuffer().put(values, from, count));
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
