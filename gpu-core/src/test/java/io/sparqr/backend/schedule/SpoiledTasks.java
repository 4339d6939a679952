/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/** Faults in the records of a task list. */
public final class SpoiledTasks {

  private static final int RECORD = TaskLayout.TASK_BYTES;

  private SpoiledTasks() {}

  /** Kinds of faults. */
  public enum Kind {
    /** A task that waits for more or fewer tasks than it needs. */
    COUNT,
    /** A task that is left out. */
    LEFT_OUT,
    /** A task that occurs twice. */
    TWICE,
    /** A bundle whose reflectors are written to, or read from, another slot. */
    VT_SLOT,
    /** Another row tile in a bundle. */
    TILE
  }

  /**
   * Spoils one record in a list.
   *
   * @param list little-endian records; may be changed
   * @return the list; null: it has no record of the kind
   */
  public static ByteBuffer spoil(Kind kind, ByteBuffer list, StageProgram p, Random random) {
    int n = list.capacity() / RECORD;
    int first = n == 0 ? 0 : random.nextInt(n);
    for (int k = 0; k < n; k++) {
      int at = (first + k) % n * RECORD;
      ByteBuffer spoiled = spoil(kind, list, at, p, random);
      if (spoiled != null) {
        return spoiled;
      }
    }
    return null;
  }

  /**
   * Spoils a record in place, if the fault applies to it.
   *
   * @param kind one that keeps the list's length
   * @return whether it was
   */
  public static boolean spoilOne(Kind kind, ByteBuffer record, StageProgram p, Random random) {
    // A block's task has no counts to wait for.
    return (kind != Kind.COUNT || TaskLayout.front(record, 0) < p.fronts())
        && spoil(kind, record, 0, p, random) == record;
  }

  private static ByteBuffer spoil(
      Kind kind, ByteBuffer list, int at, StageProgram p, Random random) {
    return switch (kind) {
      case COUNT -> count(list, at, random);
      case LEFT_OUT -> without(list, at);
      case TWICE -> twice(list, at, random.nextBoolean());
      case VT_SLOT -> slot(list, at, p, random);
      case TILE -> tile(list, at, p, random);
    };
  }

  /** A wrong count: off by one, or with one bit flipped. */
  public static ByteBuffer count(ByteBuffer list, int at, Random random) {
    int place = at + (random.nextBoolean() ? TaskLayout.NEED_CHAIN : TaskLayout.NEED_BULK);
    int was = list.getInt(place);
    int by = random.nextBoolean() ? was + (random.nextBoolean() ? 1 : -1) : was;
    list.putInt(place, by == was ? was ^ 1 << random.nextInt(32) : Math.max(0, by));
    return list.getInt(place) == was ? null : list;
  }

  /** A task of another kind, in place. */
  public static ByteBuffer kind(ByteBuffer list, int at, int kind) {
    return list.put(at + TaskLayout.KIND, (byte) kind);
  }

  private static ByteBuffer without(ByteBuffer list, int at) {
    ByteBuffer some = ByteBuffer.allocate(list.capacity() - RECORD).order(ByteOrder.LITTLE_ENDIAN);
    some.put(0, list, 0, at);
    some.put(at, list, at + RECORD, list.capacity() - at - RECORD);
    return some;
  }

  /** Right behind itself, or at the end of the list. */
  private static ByteBuffer twice(ByteBuffer list, int at, boolean atOnce) {
    ByteBuffer more = ByteBuffer.allocate(list.capacity() + RECORD).order(ByteOrder.LITTLE_ENDIAN);
    int second = atOnce ? at + RECORD : list.capacity();
    more.put(0, list, 0, second);
    more.put(second, list, at, RECORD);
    more.put(second + RECORD, list, second, list.capacity() - second);
    return more;
  }

  private static ByteBuffer slot(ByteBuffer list, int at, StageProgram p, Random random) {
    int kind = list.get(at + TaskLayout.KIND);
    boolean applies = kind == TaskLayout.APPLY_NEAR || kind == TaskLayout.APPLY;
    boolean reads = applies || kind == TaskLayout.APPLY_FACTORIZE;
    boolean writes = kind <= TaskLayout.APPLY_FACTORIZE;
    int slots = p.schedule().vtSlots();
    if (!reads && !writes || slots < 2) {
      return null;
    }
    boolean read = reads && (!writes || random.nextBoolean());
    int place = at + (read ? TaskLayout.QR_VT_READ : TaskLayout.QR_VT_WRITE);
    int was = list.getInt(place);
    if (was < 0) {
      return null;
    }
    list.putInt(place, (was + 1 + random.nextInt(slots - 1)) % slots);
    return list;
  }

  private static ByteBuffer tile(ByteBuffer list, int at, StageProgram p, Random random) {
    int kind = list.get(at + TaskLayout.KIND);
    boolean applies = kind == TaskLayout.APPLY_NEAR || kind == TaskLayout.APPLY;
    if (kind > TaskLayout.APPLY_FACTORIZE && !applies) {
      return null;
    }
    int tiles = p.descriptor(TaskLayout.front(list, at)).rowTiles();
    if (tiles < 2) {
      return null;
    }
    int place = at + TaskLayout.QR_TILE + 4 * random.nextInt(list.get(at + TaskLayout.SIZE));
    list.putInt(place, (list.getInt(place) + 1 + random.nextInt(tiles - 1)) % tiles);
    return list;
  }
}
