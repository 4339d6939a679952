/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.jvm.ByteBudget;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ExchangeTest {

  @Test
  void valuesByNumberUntilItIsClosed() throws IOException, ClassNotFoundException {
    int before = Exchange.open();
    var exchange = new Exchange();
    exchange.put(3, "first");
    exchange.put(3, "again");
    assertThat(exchange.get(3, String.class)).isEqualTo("again");
    assertThat(exchange.find(4, String.class)).isEmpty();
    assertThat(exchange.find(3, String.class)).contains("again");
    Exchange ofTask = sent(exchange);
    ofTask.put(4, "of a task");
    assertThat(exchange.get(4, String.class)).isEqualTo("of a task");
    assertThat(Exchange.open()).isEqualTo(before + 1);
    exchange.close();
    exchange.close();
    ofTask.put(5, "of a straggler");
    assertThat(ofTask.isOpen()).isFalse();
    assertThat(Exchange.open()).isEqualTo(before);
    assertThat(exchange.find(5, String.class)).isEmpty();
    assertThatThrownBy(() -> exchange.get(3, String.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  /** As Spark passes it to a task. */
  private static Exchange sent(Exchange exchange) throws IOException, ClassNotFoundException {
    var bytes = new ByteArrayOutputStream();
    try (var out = new ObjectOutputStream(bytes)) {
      out.writeObject(exchange);
    }
    try (var in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (Exchange) in.readObject();
    }
  }

  @Test
  void valuesTakeBytesOfABudgetThatOthersUseToo() {
    var budget = new ByteBudget(10);
    var one = new Exchange(budget);
    try (var other = new Exchange(budget)) {
      assertThat(one.put(0, "six", 6)).isTrue();
      assertThat(other.put(0, "five", 5)).as("more than there is").isFalse();
      assertThat(other.find(0, String.class)).isEmpty();
      assertThat(other.put(0, "four", 4)).isTrue();
      assertThat(budget.left()).isZero();
      assertThat(one.bytes()).isEqualTo(6);
      one.close();
      assertThat(budget.left()).isEqualTo(6);
      assertThat(one.put(1, "late", 1)).isFalse();
      assertThat(one.take(1)).isFalse();
      one.giveBack(6);
      assertThat(budget.left()).as("nothing is given back twice").isEqualTo(6);
      assertThat(one.bytes()).isZero();
    }
    assertThat(budget.left()).isEqualTo(10);
  }

  @Test
  void aRepeatedTaskGivesBackWhatItsFirstRunTook() {
    var budget = new ByteBudget(10);
    try (var exchange = new Exchange(budget)) {
      assertThat(exchange.take(4)).isTrue();
      assertThat(exchange.keep(0, "first", 4)).isTrue();
      assertThat(exchange.take(5)).isTrue();
      assertThat(exchange.keep(0, "again", 5)).isTrue();
      assertThat(exchange.bytes()).isEqualTo(5);
      assertThat(exchange.take(3)).isTrue();
      exchange.giveBack(3);
      assertThat(budget.left()).isEqualTo(5);
    }
    assertThat(budget.left()).isEqualTo(10);
  }

  @Test
  void aBudgetMayChange() {
    var most = new AtomicLong(10);
    var budget = new ByteBudget(most::get);
    assertThat(budget.take(8)).isTrue();
    most.set(5);
    assertThat(budget.take(0)).isFalse();
    assertThat(budget.left()).isEqualTo(-3);
    assertThat(new ByteBudget(Long.MAX_VALUE).take(Long.MAX_VALUE)).isTrue();
  }

  /** Stragglers that take bytes while it is closed leave none taken. */
  @Test
  void nothingStaysTakenWhateverStragglersDo() throws InterruptedException {
    var budget = new ByteBudget(1000);
    for (int round = 0; round < 200; round++) {
      var exchange = new Exchange(budget);
      var begun = new CountDownLatch(3);
      var threads = new ArrayList<Thread>();
      for (int t = 0; t < 3; t++) {
        int task = t;
        var thread =
            new Thread(
                () -> {
                  begun.countDown();
                  for (int k = 0; exchange.isOpen(); k++) {
                    exchange.put(task + k % 2, "value", 7);
                    if (exchange.take(5)) {
                      exchange.giveBack(5);
                    }
                  }
                });
        threads.add(thread);
        thread.start();
      }
      begun.await();
      exchange.close();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(budget.left()).as("round %d", round).isEqualTo(1000);
    }
  }
}
