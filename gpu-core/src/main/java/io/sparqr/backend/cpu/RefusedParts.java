/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The parts of refused groups as further units of a task's tree. A group's unit ends with the last
 * of its parts; until then they have the memory that was booked for it. Not thread-safe but for
 * {@link #run}.
 */
final class RefusedParts {

  private final int first;
  private final Map<Integer, Part> all = new ConcurrentHashMap<>();
  private final List<Part> ready = new ArrayList<>();
  private int next;

  /** A refused group whose parts are under way. */
  private static final class Open {
    private final int unit;
    private final RefusedGroup group;
    private final int number;
    private final int[] pending;
    private final long room;
    private long running;
    private int left;

    Open(int unit, RefusedGroup group, int number, long room) {
      this.unit = unit;
      this.group = group;
      this.number = number;
      this.room = room;
      pending = group.pending();
      left = group.parts();
    }

    /** Whether a part may run beside those that do: a part that is larger than the room, alone. */
    boolean hasRoom(int part) {
      return running == 0 || running + group.bytes(part) <= room;
    }
  }

  /** A part, by its number in its group. */
  private record Part(Open of, int part) {

    int unit() {
      return of.number + part;
    }
  }

  /**
   * Without any.
   *
   * @param first number of the first part's unit
   */
  RefusedParts(int first) {
    this.first = first;
    next = first;
  }

  /** Whether a unit is a part. */
  boolean has(int unit) {
    return unit >= first;
  }

  /**
   * Adds the parts of a group.
   *
   * @param unit of its root
   * @param room bytes that fronts may take side by side
   */
  void open(int unit, RefusedGroup group, long room) {
    var open = new Open(unit, group, next, room);
    next += group.parts();
    for (int p = 0; p < group.parts(); p++) {
      var part = new Part(open, p);
      all.put(part.unit(), part);
      if (open.pending[p] == 0) {
        ready.add(part);
      }
    }
  }

  /** Takes a part that may run; -1 if there is none. */
  int next() {
    for (Iterator<Part> parts = ready.iterator(); parts.hasNext(); ) {
      Part p = parts.next();
      if (p.of.hasRoom(p.part)) {
        parts.remove();
        p.of.running += p.of.group.bytes(p.part);
        return p.unit();
      }
    }
    return -1;
  }

  /** Does a part. Thread-safe. */
  void run(int unit, FrontWorker worker, Crew crew) {
    Part p = Objects.requireNonNull(all.get(unit));
    worker.part(p.of.group, p.part, crew);
  }

  /** Marks a part as finished; returns its group's unit if it was the last one, else -1. */
  int finished(int unit) {
    Part p = Objects.requireNonNull(all.remove(unit));
    Open of = p.of;
    of.running -= of.group.bytes(p.part);
    for (int above : of.group.above(p.part)) {
      if (--of.pending[above] == 0) {
        ready.add(new Part(of, above));
      }
    }
    return --of.left == 0 ? of.unit : -1;
  }

  /** Whether parts wait for a thread or for room. */
  boolean isWaiting() {
    return !ready.isEmpty();
  }
}
