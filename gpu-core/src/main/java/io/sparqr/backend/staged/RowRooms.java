/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.RowMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.HostThreads;
import io.sparqr.threads.Later;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory for the rows of a task's large fronts, made before they come. Memory that nothing has used
 * yet is cleared by the system, and again by the JVM, on one thread for each array, which takes
 * longer than the rows' way from a device. So other threads make that of a stage while the device
 * works, on the stage before if that is known. Thread-safe.
 */
final class RowRooms {

  /** An array of at least this many doubles is worth several threads. */
  static final int LARGE = 1 << 20;

  /** An array of at least this many takes a thread as long as a device takes for a stage. */
  private static final int LARGEST = 8 * LARGE;

  /** Longer ones are no arrays. */
  private static final int MOST = Integer.MAX_VALUE - 8;

  private final RowMemory memory;
  private final int threads;

  /** By front: a front that has to wait for a later stage keeps its own. */
  private final Map<Integer, Room> rooms = new ConcurrentHashMap<>();

  private record Room(int doubles, Later<DoubleBuffer> values) {}

  /** In place of a front's room from when its rows have come. */
  private final Room taken = new Room(-1, new Later<>(() -> DoubleBuffer.allocate(0)));

  /**
   * Without any memory yet.
   *
   * @param threads that make memory at a time for a stage
   */
  RowRooms(RowMemory memory, int threads) {
    this.memory = memory;
    this.threads = threads;
  }

  /**
   * Begins to make memory for a stage's large fronts, in their order. Idempotent.
   *
   * @param fronts of the stage, by number of the analysis
   */
  void begin(StageProgram program, int[] fronts) {
    var lengths = new LinkedHashMap<Integer, Integer>();
    for (int f = 0; f < fronts.length; f++) {
      if (program.outLength(f) >= LARGE) {
        lengths.put(fronts[f], valuesOfR(program.descriptor(f)));
      }
    }
    begin(lengths);
  }

  /**
   * Begins to make memory for the largest fronts of a task of several stages, whichever stage they
   * are in, the largest first: a single thread makes each, which can take as long as several
   * stages.
   */
  void beginLargest(SymbolicAnalysis analysis, int[] fronts) {
    var lengths = new LinkedHashMap<Integer, Integer>();
    Arrays.stream(fronts)
        .boxed()
        .filter(f -> valuesOfR(analysis, f) >= LARGEST)
        .sorted(Comparator.comparingLong(f -> -valuesOfR(analysis, f)))
        .forEach(f -> lengths.put(f, (int) valuesOfR(analysis, f)));
    begin(lengths);
  }

  /** The same for doubles by front; of one whose length is another now, what was made is left. */
  @SuppressWarnings("ReferenceEquality") // this very room
  void begin(Map<Integer, Integer> lengths) {
    var all = new ArrayList<Room>();
    lengths.forEach((front, doubles) -> all.add(room(front, doubles)));
    all.removeIf(room -> room == taken || room.values.begun());
    var next = new AtomicInteger();
    for (int t = 0; t < Math.min(threads, all.size()); t++) {
      HostThreads.start(() -> make(all, next));
    }
  }

  @SuppressWarnings("ReferenceEquality") // this very room
  private Room room(int front, int doubles) {
    return rooms.compute(
        front,
        (f, known) ->
            known == taken || known != null && known.doubles == doubles
                ? known
                : new Room(doubles, new Later<>(() -> memory.allocate(doubles))));
  }

  private static void make(List<Room> all, AtomicInteger next) {
    for (int i = next.getAndIncrement(); i < all.size(); i = next.getAndIncrement()) {
      try {
        all.get(i).values.get();
      } catch (RuntimeException | Error e) {
        // whoever takes this memory is told; without memory there is none for the next ones either
        return;
      }
    }
  }

  /** Memory for a front's rows, once. */
  DoubleBuffer take(int front, int doubles) {
    Room room = rooms.put(front, taken);
    return room != null && room.doubles == doubles ? room.values.get() : memory.allocate(doubles);
  }

  /** Takes a front's memory back: its rows are to come again, in a later stage. */
  void giveBack(int front, DoubleBuffer values) {
    rooms.put(front, new Room(values.capacity(), new Later<>(() -> values)));
  }

  /** Values of the pivot rows of a front of full rank. */
  static int valuesOfR(FrontDescriptor d) {
    return (int) d.packedValues(Math.min(d.fm(), d.fp()));
  }

  private static long valuesOfR(SymbolicAnalysis analysis, int f) {
    long r = Math.min(analysis.fm(f), analysis.fp(f));
    long values = FrontDescriptor.packedValues(r, analysis.fn(f));
    return values > MOST ? 0 : values;
  }
}
