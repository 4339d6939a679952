/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.RowMemory;
import io.sparqr.threads.Later;
import java.nio.DoubleBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Memory for the rows of a task's large fronts, made before they come. Memory that nothing has used
 * yet is cleared by the system, and again by the JVM, on one thread for each array, which takes
 * longer than the rows' way from a device. So other threads make that of a stage while the device
 * works, on the stage before if that is known. Thread-safe.
 */
final class RowRooms {

  /** An array of at least this many doubles is worth several threads. */
  static final int LARGE = 1 << 20;

  private final RowMemory memory;

  /** By front, until its rows come: a front that has to wait for a later stage keeps its own. */
  private final Map<Integer, Room> rooms = new ConcurrentHashMap<>();

  private record Room(int doubles, Later<DoubleBuffer> values) {}

  RowRooms(RowMemory memory) {
    this.memory = memory;
  }

  /**
   * Begins to make memory for a stage's large fronts. Idempotent.
   *
   * @param fronts of the stage, by number of the analysis
   */
  void begin(StageProgram program, int[] fronts) {
    for (int f = 0; f < fronts.length; f++) {
      if (program.outLength(f) >= LARGE) {
        begin(fronts[f], valuesOfR(program.descriptor(f)));
      }
    }
  }

  /** The same for a front; if its rows have another length now, what was made is left. */
  void begin(int front, int doubles) {
    rooms
        .compute(
            front,
            (f, room) ->
                room != null && room.doubles == doubles
                    ? room
                    : new Room(doubles, new Later<>(() -> memory.allocate(doubles))))
        .values
        .begin();
  }

  /** Memory for a front's rows, once. */
  DoubleBuffer take(int front, int doubles) {
    Room room = rooms.remove(front);
    return room != null && room.doubles == doubles ? room.values.get() : memory.allocate(doubles);
  }

  /** Values of the pivot rows of a front of full rank. */
  static int valuesOfR(FrontDescriptor d) {
    long r = Math.min(d.fm(), d.fp());
    return (int) (r * d.fn() - r * (r - 1) / 2);
  }
}
