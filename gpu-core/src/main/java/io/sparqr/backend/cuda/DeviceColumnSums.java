/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.cuda.driver.CudaModule.SumKind;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.transfer.LoadedStage;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.cuda.transfer.Workers;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.layout.SumChunks;
import io.sparqr.numeric.integrity.ColumnProbe;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Column sums over a stage's input and output, by the kernels of {@code column_sums.cuh}: values
 * are read on the device, and only two words per column are downloaded. Buffers grow and are
 * reused; the structure of the last program stays on the device. Not thread-safe; the device is
 * bound by the caller.
 */
final class DeviceColumnSums implements AutoCloseable {

  /** Bytes of SparqrSums, the launch's parameter. */
  static final int PARAMETER_BYTES = 128;

  /** Bytes of SparqrDepartures. */
  static final int DEPARTURE_BYTES = 104;

  /** SPARQR_SUM_UNIT. */
  private static final double UNIT = 0x1p56;

  /** Columns merged by one thread at a time. */
  private static final int STEP = 1 << 14;

  /** The contents of each buffer. */
  private enum Part {
    OUTPUT_CHUNKS,
    BLOCK_CHUNKS,
    ENTRY_CHUNKS,
    RHS_CHUNKS,
    START,
    NUMBER,
    COUNTS,
    SCALE,
    SUMS_IN,
    MARKED_IN,
    SUMS_OUT,
    MARKED_OUT,
    G,
    T,
    BITS,
    BITS_OUT,
    ENDED,
    RESULT
  }

  private final CudaDriver driver;
  private final Transfers transfers;
  private final Workers workers;
  private final CudaStream stream;

  /**
   * For sums that need not wait for the stage's rounds: they are bound by atomic additions to
   * memory, of which the rounds do few.
   */
  private final CudaStream beside;

  private final CudaEvent inputDone;
  private final DeviceBuffer[] buffer = new DeviceBuffer[Part.values().length];
  private final int[] chunks = new int[4];
  private @Nullable StageProgram resident;
  private double @Nullable [] residentScale;
  private boolean @Nullable [] residentCounts;

  /** The scale with which the current stage's sums were started, if they were. */
  private double @Nullable [] begun;

  DeviceColumnSums(CudaDriver driver, Transfers transfers, Workers workers, CudaStream stream) {
    this.driver = driver;
    this.transfers = transfers;
    this.workers = workers;
    this.stream = stream;
    beside = CudaStream.urgent(driver);
    inputDone = new CudaEvent(driver, false);
  }

  /** Forgets the structure on the device. */
  void forget() {
    resident = null;
    begun = null;
  }

  /** Prepares for a new stage, which has no sums yet. */
  void newStage() {
    begun = null;
  }

  /**
   * Implements {@link io.sparqr.backend.staged.executor.RoundExecutor#sumAhead}: enqueues without
   * waiting. The input is summed concurrently with the rounds, which only read it.
   */
  void ahead(LoadedStage stage, double[] scale) {
    StageProgram program = stage.program();
    boolean[] all = new boolean[program.fronts() + program.blocks()];
    Arrays.fill(all, true);
    begin(program, scale, all);
    sumInput(stage, beside);
    inputDone.record(beside);
    sumOutput(stage);
    stream.await(inputDone);
    int blocks = (scale.length + STEP / 16 - 1) / (STEP / 16);
    stage.module().launchComparison(stream, departureParameter(stage), program.rhs(), blocks);
    begun = scale;
  }

  /** Implements {@link io.sparqr.backend.staged.executor.RoundExecutor#inputSums}. */
  long input(LoadedStage stage, double[] scale, boolean[] counts, ColumnSums sums) {
    StageProgram program = stage.program();
    begun = null;
    int fronts = program.fronts();
    boolean[] all = new boolean[fronts + program.blocks()];
    System.arraycopy(counts, 0, all, 0, fronts);
    for (int b = 0; b < program.blocks(); b++) {
      all[fronts + b] = counts[program.descriptor(fronts + b).parent()];
    }
    begin(program, scale, all);
    sumInput(stage, stream);
    end(program, Part.SUMS_IN, Part.MARKED_IN, scale.length, sums);
    return bits(Part.BITS);
  }

  private void sumInput(LoadedStage stage, CudaStream by) {
    clear(by, stage.program(), Part.SUMS_IN, Part.MARKED_IN, Part.BITS, Part.G, Part.T);
    launch(by, stage, SumKind.RHS, Part.RHS_CHUNKS, StageMemory.Part.S_VALUE);
    launch(by, stage, SumKind.ENTRY, Part.ENTRY_CHUNKS, StageMemory.Part.S_VALUE);
    if (stage.program().rhs() > 1) {
      launch(by, stage, SumKind.RHS_PROBE, Part.RHS_CHUNKS, StageMemory.Part.S_VALUE);
    }
    launch(by, stage, SumKind.BLOCK, Part.BLOCK_CHUNKS, StageMemory.Part.INPUT);
  }

  private long bits(Part part) {
    long[] bits = new long[1];
    transfers.fetch(
        null, List.of(new Transfers.Slice(get(part), 0, Long.BYTES)), b -> bits[0] = b.getLong(0));
    return bits[0];
  }

  /** Implements {@link io.sparqr.backend.staged.executor.RoundExecutor#compare}. */
  RoundExecutor.Compared compare(LoadedStage stage, double[] scale, double[] residualSquares) {
    if (begun != scale) {
      ahead(stage, scale);
    }
    stream.synchronize();
    int rhs = residualSquares.length;
    double[] result = new double[1 + rhs];
    long[] bits = new long[2];
    var slices =
        List.of(
            new Transfers.Slice(get(Part.BITS), 0, 8),
            new Transfers.Slice(get(Part.BITS_OUT), 0, 8),
            new Transfers.Slice(get(Part.RESULT), 0, 8),
            new Transfers.Slice(get(Part.ENDED), 0, 8 * rhs));
    transfers.fetch(
        null,
        slices,
        b -> {
          b.asLongBuffer().get(bits);
          b.position(16).asDoubleBuffer().get(result);
        });
    boolean same = true;
    for (int q = 0; q < rhs; q++) {
      // The same terms in another order, so only rounding may differ. If it differs more, or the
      // squares overflow in the right-hand side's units, the host examines the stage in detail.
      double bound = Math.ulp(1.0) * (64 + stage.program().residualSlots());
      same &= Math.abs(result[1 + q] - residualSquares[q]) <= bound * residualSquares[q];
    }
    return new RoundExecutor.Compared(same ? result[0] : Double.NaN, bits[0], bits[1]);
  }

  private ByteBuffer departureParameter(LoadedStage stage) {
    StageProgram program = stage.program();
    ByteBuffer b = ByteBuffer.allocateDirect(DEPARTURE_BYTES).order(ByteOrder.nativeOrder());
    for (Part part : List.of(Part.SUMS_IN, Part.SUMS_OUT, Part.MARKED_IN, Part.MARKED_OUT)) {
      b.putLong(get(part).address());
    }
    b.putLong(stage.memory().get(StageMemory.Part.RESIDUAL).address());
    for (Part part : List.of(Part.SCALE, Part.ENDED, Part.RESULT)) {
      b.putLong(get(part).address());
    }
    b.putDouble(UNIT / probeSize(program));
    b.putDouble(ColumnProbe.right(program.rhs()));
    b.putDouble(ColumnProbe.rightSquares(program.rhs()));
    b.putInt(program.columns().count());
    b.putInt(program.rhs());
    b.putInt(program.residualSlots());
    b.putInt(0);
    return b.flip();
  }

  /** Implements {@link io.sparqr.backend.staged.executor.RoundExecutor#outputSums}. */
  long output(LoadedStage stage, double[] scale, boolean[] counts, ColumnSums sums) {
    begun = null;
    begin(stage.program(), scale, counts);
    sumOutput(stage);
    end(stage.program(), Part.SUMS_OUT, Part.MARKED_OUT, scale.length, sums);
    return bits(Part.BITS_OUT);
  }

  private void sumOutput(LoadedStage stage) {
    clear(stream, stage.program(), Part.SUMS_OUT, Part.MARKED_OUT, Part.BITS_OUT);
    launch(stream, stage, SumKind.OUTPUT, Part.OUTPUT_CHUNKS, StageMemory.Part.OUT);
  }

  private void clear(CudaStream by, StageProgram program, Part... parts) {
    for (Part part : parts) {
      by.fill(get(part).at(0), (byte) 0, bytes(program, part));
    }
  }

  private void begin(StageProgram program, double[] scale, boolean[] counts) {
    structure(program);
    if (!Arrays.equals(scale, residentScale)) {
      residentScale = null;
      doubles(Part.SCALE, scale);
      residentScale = scale;
    }
    if (!Arrays.equals(counts, residentCounts)) {
      residentCounts = null;
      send(
          Part.COUNTS,
          counts.length,
          4,
          (to, from, count) -> {
            for (int f = from; f < from + count; f++) {
              to.putInt(counts[f] ? 1 : 0);
            }
          });
      residentCounts = counts;
    }
  }

  private void launch(
      CudaStream by, LoadedStage stage, SumKind kind, Part chunkPart, StageMemory.Part values) {
    int count = chunks[chunkPart.ordinal()];
    if (count == 0) {
      return;
    }
    StageMemory m = stage.memory();
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
            kind == SumKind.OUTPUT ? Part.SUMS_OUT : Part.SUMS_IN,
            kind == SumKind.OUTPUT ? Part.MARKED_OUT : Part.MARKED_IN,
            Part.G,
            Part.T,
            kind == SumKind.OUTPUT ? Part.BITS_OUT : Part.BITS)) {
      b.putLong(get(part).address());
    }
    b.putDouble(UNIT / probeSize(stage.program()));
    b.putDouble(ColumnProbe.right(stage.program().rhs()));
    b.putInt(stage.program().columns().count());
    b.putInt(stage.program().rhs());
    stage.module().launchSums(kind, by, b.flip(), count);
  }

  /** A power of two; 64 times it bounds any correct probe sum. */
  private static double probeSize(StageProgram program) {
    int most = ColumnProbe.mostProbe(program.columns().count(), program.rhs());
    return 2.0 / 64 * Integer.highestOneBit(Math.max(1, most));
  }

  private void end(StageProgram program, Part sumsPart, Part marked, int columns, ColumnSums sums) {
    stream.synchronize();
    double probeUnit = probeSize(program) / UNIT;
    workers.run(
        (columns + STEP - 1) / STEP,
        i -> {
          int from = i * STEP;
          int count = Math.min(STEP, columns - from);
          List<Transfers.Slice> slices = new ArrayList<>();
          for (int word = 0; word < 4; word++) {
            long at = 8L * ((long) word * columns + from);
            slices.add(new Transfers.Slice(get(sumsPart), at, 8 * count));
          }
          slices.add(new Transfers.Slice(get(marked), 4L * from, 4 * count));
          transfers.fetch(null, slices, b -> takeOver(b, from, count, probeUnit, sums));
        });
  }

  private static void takeOver(
      ByteBuffer b, int from, int count, double probeUnit, ColumnSums sums) {
    for (int j = 0; j < count; j++) {
      boolean marked = b.getInt(32 * count + 4 * j) != 0;
      double squares = units(b, j, count) / UNIT;
      double probe = units(b, 2 * count + j, count) * probeUnit;
      sums.add(from + j, marked ? Double.NaN : squares, marked ? Double.NaN : probe);
    }
  }

  /** Sums of whole units and of 2^-40 units. */
  private static double units(ByteBuffer b, int at, int count) {
    return b.getLong(8 * at) + b.getLong(8 * (at + count)) * 0x1p-40;
  }

  @SuppressWarnings("ReferenceEquality")
  private void structure(StageProgram program) {
    if (resident == program) {
      return;
    }
    resident = null;
    residentScale = null;
    residentCounts = null;
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
      case SCALE -> 8 * all;
      case SUMS_IN, SUMS_OUT -> 32 * all;
      case MARKED_IN, MARKED_OUT -> 4 * all;
      case G -> p.rhs() > 0 ? 8 * p.probes() : 0;
      case T -> p.rhs() > 1 ? 8 * p.probes() : 0;
      case BITS, BITS_OUT -> Long.BYTES;
      case ENDED -> 8L * p.rhs();
      case RESULT -> 8L * (2 + CudaModule.NORM_PARTS);
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
    inputDone.close();
    beside.close();
    for (int i = 0; i < buffer.length; i++) {
      if (buffer[i] != null) {
        DeviceBuffer b = buffer[i];
        buffer[i] = null;
        b.close();
      }
    }
  }
}
