/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.threads.HostThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class JvmStateTest {

  private final List<String> closed = new ArrayList<>();

  private static final JvmPart<AtomicLong> BYTES =
      JvmPart.holding("bytes", AtomicLong::new, AtomicLong::get);

  private record Closing(Runnable how) implements AutoCloseable {
    @Override
    public void close() {
      how.run();
    }
  }

  private JvmPart<Closing> closing(String name) {
    return JvmPart.of(name, () -> new Closing(() -> closed.add(name)));
  }

  @Test
  void aPartIsMadeOnceAndStays() {
    var made = new AtomicInteger();
    JvmPart<Object> part = JvmPart.of("objects", () -> List.of(made.incrementAndGet()));
    try (JvmState state = JvmState.fresh()) {
      assertThat(part.get()).isSameAs(part.get());
      assertThat(made).hasValue(1);
      assertThat(JvmState.current()).isSameAs(state);
    }
  }

  @Test
  void aPartMayNeedAnother() {
    JvmPart<List<AtomicLong>> part = JvmPart.of("lists", () -> List.of(BYTES.get()));
    try (JvmState state = JvmState.fresh()) {
      assertThat(part.get().get(0)).isSameAs(BYTES.get());
      assertThat(state.held()).isEmpty();
    }
  }

  @Test
  void aFreshStateSharesNothingAndGivesWayAtItsEnd() {
    JvmState before = JvmState.current();
    AtomicLong first = BYTES.get();
    long had = first.get();
    try (JvmState state = JvmState.fresh()) {
      assertThat(BYTES.get()).isNotSameAs(first).hasValue(0);
      BYTES.get().set(5);
      assertThat(state.held()).containsExactly(org.assertj.core.api.Assertions.entry("bytes", 5L));
    }
    assertThat(JvmState.current()).isSameAs(before);
    assertThat(BYTES.get()).isSameAs(first).hasValue(had);
  }

  @Test
  void partsAreClosedTheNewestFirst() {
    JvmPart<Closing> a = closing("a");
    JvmPart<Closing> b = closing("b");
    JvmState state = JvmState.fresh();
    a.get();
    b.get();
    state.close();
    state.close();
    assertThat(closed).containsExactly("b", "a");
  }

  @Test
  void oneThatCannotBeClosedKeepsNoOtherOpen() {
    JvmPart<Closing> a = closing("a");
    JvmPart<Closing> bad =
        JvmPart.of(
            "bad ones",
            () ->
                new Closing(
                    () -> {
                      throw new IllegalArgumentException("stuck");
                    }));
    JvmState before = JvmState.current();
    JvmState state = JvmState.fresh();
    a.get();
    bad.get();
    assertThatThrownBy(state::close).hasMessageContaining("bad ones").hasRootCauseMessage("stuck");
    assertThat(closed).containsExactly("a");
    assertThat(JvmState.current()).isSameAs(before);
  }

  @Test
  void hostThreadsOfAStateEndWithIt() throws InterruptedException {
    var thread = new Thread[1];
    var began = new CountDownLatch(1);
    try (JvmState state = JvmState.fresh()) {
      HostThreads.start(
          () -> {
            thread[0] = Thread.currentThread();
            began.countDown();
          });
      began.await();
      assertThat(state.held()).isEmpty();
    }
    thread[0].join(60_000);
    assertThat(thread[0].isAlive()).isFalse();
  }
}
