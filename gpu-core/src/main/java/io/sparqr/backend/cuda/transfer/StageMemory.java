/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.configuration.Keys;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The device memory of one stage at a time. Buffers are kept between stages and grow: allocating
 * and freeing gigabytes costs milliseconds.
 */
public final class StageMemory implements AutoCloseable {

  /** The contents of each buffer, in the order of SparqrStage. */
  public enum Part {
    TASKS,
    FRONTS,
    ARENA,
    VT,
    S_INDEX,
    S_VALUE,
    MAPS,
    INPUT,
    OUT,
    RESIDUAL,
    STATE,
    PROGRESS
  }

  /** Bytes of SparqrStage.failure, at the start of {@link Part#PROGRESS}; then the tickets. */
  private static final int FAILURE_BYTES = 8;

  /** Bytes from the start of {@link Part#PROGRESS} that say how a stage ended. */
  public static final int END_BYTES = FAILURE_BYTES + 8;

  /** What depends on the stage's structure alone. */
  private static final Set<Part> STRUCTURE =
      Collections.unmodifiableSet(EnumSet.of(Part.TASKS, Part.FRONTS, Part.S_INDEX, Part.MAPS));

  /** What the first of several devices has for all of them. */
  private static final Set<Part> ON_FIRST =
      Collections.unmodifiableSet(
          EnumSet.of(Part.S_INDEX, Part.S_VALUE, Part.INPUT, Part.OUT, Part.RESIDUAL));

  /** Bytes of SparqrPeer. */
  public static final int PEER_BYTES = 48;

  /** Places of fields of SparqrStage. */
  private static final int PEERS = 128;

  private static final int ANNOUNCED = 136;

  private static final int TIMELINE = 144;

  private static final int BIN_SHIFT = 152;

  /** The byte of {@link Part#PROGRESS} whose highest bit is SPARQR_GIVEN_UP. */
  private static final int GIVEN_UP_AT = FAILURE_BYTES + 7;

  private final CudaDriver driver;
  private final DeviceBuffer[] buffer = new DeviceBuffer[Part.values().length];

  public StageMemory(CudaDriver driver) {
    this.driver = driver;
  }

  /** Milliseconds that a task may wait for its dependencies, longer than any task takes. */
  public static long waitMillis() {
    return Keys.WAIT_MILLIS.ofJvm();
  }

  /** Makes room for a stage; returns true if the previous structure is lost. */
  public boolean reserve(StageProgram program) {
    boolean lost = false;
    for (Part part : Part.values()) {
      long need = bytes(program, part);
      DeviceBuffer have = buffer[part.ordinal()];
      if (have == null || have.bytes() < need) {
        lost |= STRUCTURE.contains(part);
        if (have != null) {
          buffer[part.ordinal()] = null;
          have.close();
        }
      }
    }
    for (Part part : Part.values()) {
      if (buffer[part.ordinal()] == null) {
        lost |= allocate(program, part);
      }
    }
    return lost;
  }

  /** Returns true if the structure had to give way. */
  private boolean allocate(StageProgram program, Part part) {
    long need = bytes(program, part);
    try {
      buffer[part.ordinal()] = new DeviceBuffer(driver, need);
      return false;
    } catch (InsufficientMemoryException e) {
      // Buffers that are too large after an earlier stage are freed.
      boolean shrunk = false;
      boolean lost = false;
      for (Part other : Part.values()) {
        DeviceBuffer b = buffer[other.ordinal()];
        if (b != null && b.bytes() > bytes(program, other) + (1 << 20)) {
          buffer[other.ordinal()] = null;
          b.close();
          shrunk = true;
          lost |= STRUCTURE.contains(other);
        }
      }
      if (!shrunk) {
        throw e;
      }
      for (Part other : Part.values()) {
        if (buffer[other.ordinal()] == null) {
          buffer[other.ordinal()] = new DeviceBuffer(driver, bytes(program, other));
        }
      }
      return lost;
    }
  }

  /** Bytes of a part in a stage. */
  public static long bytes(StageProgram p, Part part) {
    return switch (part) {
      case TASKS -> p.schedule().tasks() * TaskLayout.TASK_BYTES;
      case FRONTS -> p.descriptors().capacity();
      case ARENA -> 8 * p.arenaDoubles();
      case VT -> 8L * TaskLayout.VT_DOUBLES * p.schedule().vtSlots();
      case S_INDEX -> 4L * p.sIndex().length;
      case S_VALUE -> 8L * p.sIndex().length;
      case MAPS -> 4L * p.maps().length;
      case INPUT -> 8 * p.inputDoubles();
      case OUT -> 8 * p.outDoubles();
      case RESIDUAL -> 8L * p.residualSlots() * p.rhs();
      case STATE -> 4L * p.fronts();
      case PROGRESS -> FAILURE_BYTES + 8L * (1 + p.fronts() + p.dropWords());
    };
  }

  public DeviceBuffer get(Part part) {
    return buffer[part.ordinal()];
  }

  /** Gives a buffer away; the next stage gets a new one. */
  public DeviceBuffer take(Part part) {
    DeviceBuffer taken = buffer[part.ordinal()];
    buffer[part.ordinal()] = null;
    return taken;
  }

  /** Makes the tasks of the stage under way end, wherever they are. */
  public void giveUp(Transfers transfers) {
    var end = new Transfers.Slice(get(Part.PROGRESS), GIVEN_UP_AT, 1);
    transfers.send(end, b -> b.put((byte) 0x80));
  }

  /** Bytes held. */
  public long held() {
    long sum = 0;
    for (DeviceBuffer b : buffer) {
      sum += b == null ? 0 : b.bytes();
    }
    return sum;
  }

  /** Initializes memory as the tasks expect; the device's context is current. */
  public void clear(StageProgram program, CudaStream stream) {
    stream.fill(get(Part.ARENA).at(0), (byte) 0, 8 * program.arenaDoubles());
    // Rows of unsound fronts are downloaded too, though unused, and must not be uninitialized.
    stream.fill(get(Part.OUT).at(0), (byte) 0, 8 * program.outDoubles());
    stream.fill(get(Part.PROGRESS).at(0), (byte) 0, bytes(program, Part.PROGRESS));
    stream.fill(get(Part.RESIDUAL).at(0), (byte) 0, 8L * program.residualSlots() * program.rhs());
  }

  /**
   * The launch parameter, optionally with other tasks and another output buffer; such tasks have no
   * dependencies.
   */
  public ByteBuffer parameter(
      double tolerance,
      int bundle,
      boolean reflectors,
      @Nullable DeviceBuffer tasks,
      @Nullable DeviceBuffer out) {
    ByteBuffer b = ByteBuffer.allocateDirect(CudaModule.STAGE_BYTES).order(ByteOrder.nativeOrder());
    for (Part part : Part.values()) {
      DeviceBuffer from = get(part);
      if (part == Part.TASKS && tasks != null) {
        from = tasks;
      } else if (part == Part.OUT && out != null) {
        from = out;
      }
      long address = from.address();
      if (part == Part.PROGRESS) {
        address = tasks != null ? 0 : address + FAILURE_BYTES;
      }
      b.putLong(8 * part.ordinal(), address);
    }
    b.putLong(96, get(Part.PROGRESS).address());
    b.putDouble(104, tolerance);
    b.putInt(112, CudaModule.sharedDoubles(bundle));
    b.putInt(116, reflectors ? 1 : 0);
    b.putLong(120, 1_000_000 * waitMillis());
    return b;
  }

  /**
   * Makes a launch parameter one of several devices'.
   *
   * @param parameter of {@link #parameter}
   * @param first the first device's memory, where the stage's input and output lie
   * @param fronts address of this device's descriptors
   * @param peers address of the places of all devices' parts (SparqrPeer)
   * @param announced address of the words of announcements
   */
  public static void amongSeveral(
      ByteBuffer parameter, StageMemory first, long fronts, long peers, long announced) {
    for (Part part : ON_FIRST) {
      parameter.putLong(8 * part.ordinal(), first.get(part).address());
    }
    parameter.putLong(8 * Part.FRONTS.ordinal(), fronts);
    parameter.putLong(PEERS, peers);
    parameter.putLong(ANNOUNCED, announced);
  }

  /**
   * Lets a launch count what its blocks do.
   *
   * @param parameter of {@link #parameter}, of tasks with dependencies
   * @param timeline address of the counts (SparqrTimeline)
   * @param shift a bin of time is 2^shift nanoseconds
   */
  public static void timed(ByteBuffer parameter, long timeline, int shift) {
    parameter.putLong(TIMELINE, timeline);
    parameter.putLong(BIN_SHIFT, shift);
  }

  /** SparqrPeer of this memory. */
  public void peer(ByteBuffer to, long fronts, long announced) {
    to.putLong(fronts);
    to.putLong(get(Part.ARENA).address());
    to.putLong(get(Part.VT).address());
    to.putLong(get(Part.STATE).address());
    to.putLong(get(Part.PROGRESS).address() + FAILURE_BYTES);
    to.putLong(announced);
  }

  /**
   * Refuses a list that has a task of an unknown kind.
   *
   * @param failure the first word of {@link Part#PROGRESS}: unknown_task of waiting.cuh writes it
   * @throws IntegrityFailure if there was one
   */
  public static void checkKinds(long failure) {
    if (failure != 0) {
      throw IntegrityFailure.ofTask((failure >>> 8) - 1, (int) failure & 0xff);
    }
  }

  @Override
  public void close() {
    for (int i = 0; i < buffer.length; i++) {
      if (buffer[i] != null) {
        DeviceBuffer b = buffer[i];
        buffer[i] = null;
        b.close();
      }
    }
  }
}
