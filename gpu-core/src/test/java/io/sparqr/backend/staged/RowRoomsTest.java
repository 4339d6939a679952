/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.DiskFullException;
import java.nio.DoubleBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Memory for rows is made once for each front, and each front has its own. */
class RowRoomsTest {

  private final AtomicInteger made = new AtomicInteger();

  private DoubleBuffer allocate(int doubles) {
    made.incrementAndGet();
    return DoubleBuffer.allocate(doubles);
  }

  @Test
  void whatWasBegunIsTakenOnce() {
    var rooms = new RowRooms(this::allocate);
    rooms.begin(3, 10);
    rooms.begin(3, 10);
    rooms.begin(5, 10);
    Set<DoubleBuffer> taken = Collections.newSetFromMap(new IdentityHashMap<>());
    taken.add(rooms.take(3, 10));
    taken.add(rooms.take(5, 10));
    taken.add(rooms.take(4, 10));
    taken.add(rooms.take(3, 10));
    assertThat(taken).hasSize(4).allMatch(b -> b.capacity() == 10);
    assertThat(made).hasValue(4);
  }

  @Test
  void aFrontOfAnotherLengthThanForetoldGetsItsOwn() {
    var rooms = new RowRooms(this::allocate);
    rooms.begin(3, 10);
    assertThat(rooms.take(3, 7).capacity()).isEqualTo(7);
    rooms.begin(4, 10);
    rooms.begin(4, 12);
    assertThat(rooms.take(4, 12).capacity()).isEqualTo(12);
  }

  @Test
  void aFullDiskIsToldWhereTheRowsCome() {
    Set<Integer> tried = ConcurrentHashMap.newKeySet();
    var rooms =
        new RowRooms(
            doubles -> {
              tried.add(doubles);
              throw new DiskFullException("no room", "folder", 80, null);
            });
    rooms.begin(3, 10);
    assertThatThrownBy(() -> rooms.take(3, 10)).isInstanceOf(DiskFullException.class);
    assertThat(tried).containsExactly(10);
  }
}
