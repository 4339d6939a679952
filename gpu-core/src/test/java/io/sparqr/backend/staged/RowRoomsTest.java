/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.DiskFullException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.DoubleBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory for rows is made once for each front, and each front has its own. */
class RowRoomsTest {

  private final AtomicInteger made = new AtomicInteger();

  private DoubleBuffer allocate(int doubles) {
    made.incrementAndGet();
    return DoubleBuffer.allocate(doubles);
  }

  @Test
  void whatWasBegunIsTakenOnce() {
    var rooms = new RowRooms(this::allocate, 2);
    rooms.begin(Map.of(3, 10));
    rooms.begin(Map.of(3, 10));
    rooms.begin(Map.of(5, 10));
    Set<DoubleBuffer> taken = Collections.newSetFromMap(new IdentityHashMap<>());
    taken.add(rooms.take(3, 10));
    taken.add(rooms.take(5, 10));
    taken.add(rooms.take(4, 10));
    taken.add(rooms.take(3, 10));
    assertThat(taken).hasSize(4).allMatch(b -> b.capacity() == 10);
    assertThat(made).hasValue(4);
    // their rows have come
    rooms.begin(Map.of(3, 10, 4, 10, 5, 10));
    assertThat(rooms.take(6, 10).capacity()).isEqualTo(10);
    assertThat(made).hasValue(5);
  }

  @Test
  void aFrontOfAnotherLengthThanForetoldGetsItsOwn() {
    var rooms = new RowRooms(this::allocate, 2);
    rooms.begin(Map.of(3, 10));
    assertThat(rooms.take(3, 7).capacity()).isEqualTo(7);
    rooms.begin(Map.of(4, 10));
    rooms.begin(Map.of(4, 12));
    assertThat(rooms.take(4, 12).capacity()).isEqualTo(12);
  }

  /** A front that was not sound is done again in a later stage. */
  @Test
  void whatIsGivenBackIsTakenAgain() {
    var rooms = new RowRooms(this::allocate, 2);
    DoubleBuffer first = rooms.take(3, 10);
    rooms.giveBack(3, first);
    rooms.begin(Map.of(3, 10));
    assertThat(rooms.take(3, 10)).isSameAs(first);
    rooms.giveBack(3, first);
    assertThat(rooms.take(3, 12).capacity()).isEqualTo(12);
    assertThat(made).hasValue(2);
  }

  /** One dense front of so many columns. */
  private static SymbolicAnalysis dense(int columns) {
    int[] all = IntStream.range(0, columns).toArray();
    var pattern = new SparsityPattern(columns, new long[] {0, columns}, all, new long[] {columns});
    return SymbolicAnalyzer.analyze(
        pattern,
        SymbolicOptions.defaults().withSingletons(false).withOrdering(OrderingMethod.NATURAL));
  }

  @ParameterizedTest
  @CsvSource({"4200, true", "4000, false"})
  void onlyTheLargestFrontsAreBegunWithTheFirstStage(int columns, boolean begun) throws Exception {
    SymbolicAnalysis analysis = dense(columns);
    int top = analysis.fronts() - 1;
    int values = columns * (columns + 1) / 2;
    var asked = new LinkedBlockingQueue<Integer>();
    var rooms =
        new RowRooms(
            doubles -> {
              asked.add(doubles);
              return DoubleBuffer.allocate(1);
            },
            2);
    rooms.beginLargest(analysis, new int[] {top});
    if (begun) {
      assertThat(asked.poll(10, TimeUnit.SECONDS)).isEqualTo(values);
    }
    rooms.take(top, values);
    assertThat(asked).hasSize(begun ? 0 : 1);
  }

  @Test
  void aFullDiskIsToldWhereTheRowsCome() {
    Set<Integer> tried = ConcurrentHashMap.newKeySet();
    var rooms =
        new RowRooms(
            doubles -> {
              tried.add(doubles);
              throw new DiskFullException("no room", "folder", 80, null);
            },
            1);
    rooms.begin(Map.of(3, 10));
    assertThatThrownBy(() -> rooms.take(3, 10)).isInstanceOf(DiskFullException.class);
    assertThat(tried).containsExactly(10);
  }

  @Test
  void soManyThreadsAndNoMoreMakeMemory() {
    var now = new AtomicInteger();
    var most = new AtomicInteger();
    var rooms =
        new RowRooms(
            doubles -> {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              LockSupport.parkNanos(2_000_000);
              now.decrementAndGet();
              return allocate(doubles);
            },
            3);
    rooms.begin(IntStream.range(0, 30).boxed().collect(Collectors.toMap(f -> f, f -> 1 + f)));
    long until = System.nanoTime() + 10_000_000_000L;
    while (made.get() < 30 && System.nanoTime() < until) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(made).hasValue(30);
    assertThat(most.get()).isBetween(1, 3);
    assertThat(rooms.take(29, 30).capacity()).isEqualTo(30);
    assertThat(made).hasValue(30);
  }
}
