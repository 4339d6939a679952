/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

class HeldBatchesTest {

  private final int before = Exchange.open();

  @AfterEach
  void nothingIsLeft() {
    assertThat(Exchange.open()).isEqualTo(before);
  }

  private static Tuple2<Integer, byte[]> batch(int key, int partition, int number) {
    var b = new RowBatchCodec.Builder(1);
    b.add(0, new int[] {number}, new double[] {partition}, 0, 1, new double[] {1}, 0);
    return new Tuple2<>(key, b.take(partition, number));
  }

  private static final int SIZE = batch(0, 0, 0)._2().length;

  private static List<Tuple2<Integer, byte[]>> all(Iterator<Tuple2<Integer, byte[]>> it) {
    var list = new ArrayList<Tuple2<Integer, byte[]>>();
    it.forEachRemaining(list::add);
    return list;
  }

  @Test
  void aKeyHasItsBatchesInTheOrderOfPartitionsWhoeverCameFirst() {
    List<Tuple2<Integer, byte[]>> first = List.of(batch(2, 0, 0), batch(0, 0, 1), batch(2, 0, 2));
    List<Tuple2<Integer, byte[]>> second = List.of(batch(2, 1, 0));
    try (var held = new HeldBatches(3, 4L * SIZE)) {
      held.put(2, List.<Tuple2<Integer, byte[]>>of().iterator());
      held.put(1, second.iterator());
      held.put(0, first.iterator());
      assertThat(all(held.of(2))).containsExactly(first.get(0), first.get(2), second.get(0));
      assertThat(all(held.of(0))).containsExactly(first.get(1));
      assertThat(all(held.of(1))).isEmpty();
      assertThat(held.bytes()).isEqualTo(4L * SIZE);
    }
  }

  @Test
  void aRepeatedTaskReplacesItsBatches() {
    try (var held = new HeldBatches(1, 2L * SIZE)) {
      held.put(0, List.of(batch(0, 0, 0)).iterator());
      Tuple2<Integer, byte[]> again = batch(0, 0, 0);
      held.put(0, List.of(again).iterator());
      assertThat(all(held.of(0))).containsExactly(again);
      assertThat(held.bytes()).isEqualTo(SIZE);
    }
  }

  @Test
  void withoutRoomForAllNothingIsHeld() {
    var taken = new ArrayList<Integer>();
    Iterator<Tuple2<Integer, byte[]>> three =
        List.of(0, 1, 2).stream()
            .map(
                k -> {
                  taken.add(k);
                  return batch(0, 1, k);
                })
            .iterator();
    try (var held = new HeldBatches(2, 2L * SIZE)) {
      held.put(0, List.of(batch(0, 0, 0)).iterator());
      assertThat(held.isOpen()).isTrue();
      held.put(1, three);
      assertThat(held.isOpen()).isFalse();
      assertThat(held.bytes()).isZero();
      assertThatThrownBy(() -> held.of(0)).isInstanceOf(IllegalStateException.class);
      held.put(1, three);
      assertThat(taken).as("who comes later makes nothing").containsExactly(0, 1);
    }
  }

  @Test
  void whatAFailedTaskHasTakenIsGivenBack() {
    Iterator<Tuple2<Integer, byte[]>> failing =
        List.of(0, 1).stream()
            .map(
                k -> {
                  if (k == 1) {
                    throw new IllegalArgumentException("planned");
                  }
                  return batch(0, 0, k);
                })
            .iterator();
    try (var held = new HeldBatches(1, 8L * SIZE)) {
      assertThatThrownBy(() -> held.put(0, failing)).hasMessage("planned");
      assertThat(held.bytes()).isZero();
      assertThat(held.isOpen()).isTrue();
    }
  }

  @Test
  void nothingIsTakenAfterClose() {
    var held = new HeldBatches(1, 1 << 20);
    held.close();
    held.close();
    held.put(0, List.of(batch(0, 0, 0)).iterator());
    assertThat(held.bytes()).isZero();
  }
}
