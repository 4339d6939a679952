/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.configuration.Keys;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.spark.rows.RowCollector;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.solve.RowCopies.Copy;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RowCopiesTest {

  /** Bytes of the first chunks of a partition: 256 entries, and as many rows. */
  private static final long FIRST_CHUNKS = 256 * (12 + 4 + 8);

  private int open;
  private long left;

  @BeforeEach
  void room() {
    open = Exchange.open();
    left = ParsedRows.room().left();
  }

  @AfterEach
  void nothingIsLeft() {
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
    assertThat(Exchange.open()).isEqualTo(open);
    assertThat(ParsedRows.room().left()).isEqualTo(left);
  }

  /** What a task does for a partition of one row; null without room. */
  private static Copy copy(Exchange exchange, int partition) {
    var reader = new RowReader(partition, 2);
    var row = new SparseRow(new int[] {0, 1}, new double[] {3, 4}, 1);
    try (RowCollector collector = RowCopies.collector(exchange, partition, null)) {
      reader.read(row);
      collector.add(reader);
      collector.end(reader);
      if (!collector.complete()) {
        return null;
      }
      var copy = new Copy(collector.rows(reader.fingerprint()), 5);
      collector.leave(copy);
      return copy;
    }
  }

  @Test
  void copiesOfAllPartitionsStayUntilTheEnd() {
    var copies = new RowCopies(0);
    assertThat(copies.rows()).isNull();
    Copy first;
    try (RowCopies.Making making = copies.begin()) {
      first = copy(making.exchange(), 0);
      assertThat(making.complete(List.of(first, copy(making.exchange(), 1)))).isTrue();
    }
    assertThat(copies.rows()).hasSize(2).startsWith(first);
    assertThat(copies.begin()).as("they are there").isNull();
    assertThat(ParsedRows.room().left()).isLessThan(left);
    copies.close();
    assertThat(copies.rows()).isNull();
    assertThat(copies.begin()).as("it is over").isNull();
    assertThat(RowCopies.none().begin()).isNull();
  }

  @Test
  void copiesOfAnotherRunThanTheFiguresAreNotTaken() {
    try (var copies = new RowCopies(0)) {
      try (RowCopies.Making making = copies.begin()) {
        Copy counted = copy(making.exchange(), 0);
        copy(making.exchange(), 0);
        assertThat(making.complete(List.of(counted))).isFalse();
      }
      assertThat(ParsedRows.room().left()).isEqualTo(left);
      try (RowCopies.Making again = copies.begin()) {
        assertThat(again.complete(List.of(copy(again.exchange(), 0)))).isTrue();
      }
    }
  }

  @Test
  void ofTwoPassesAtATimeTheFirstOneLeavesThem() {
    try (var copies = new RowCopies(0)) {
      Copy first;
      try (RowCopies.Making one = copies.begin();
          RowCopies.Making other = copies.begin()) {
        Copy second = copy(other.exchange(), 0);
        first = copy(one.exchange(), 0);
        assertThat(one.complete(List.of(first))).isTrue();
        assertThat(other.complete(List.of(second))).isFalse();
      }
      assertThat(copies.rows()).containsExactly(first);
      assertThat(Exchange.open()).isEqualTo(open + 1);
    }
    var closed = new RowCopies(0);
    try (RowCopies.Making making = closed.begin()) {
      Copy late = copy(making.exchange(), 0);
      closed.close();
      assertThat(making.complete(List.of(late))).isFalse();
    }
  }

  @Test
  void withoutRoomForOneThereAreNoneAndNoOtherTrial() {
    System.setProperty(
        Keys.ROW_COPY_SHARE.name(),
        String.valueOf(1.5 * FIRST_CHUNKS / Runtime.getRuntime().maxMemory()));
    try (var large = new RowCopies(1e6);
        var copies = new RowCopies(0)) {
      assertThat(large.begin()).isNull();
      try (RowCopies.Making making = copies.begin()) {
        Copy first = copy(making.exchange(), 0);
        Copy second = copy(making.exchange(), 1);
        assertThat(second).isNull();
        assertThat(making.complete(Arrays.asList(first, second))).isFalse();
      }
      assertThat(copies.rows()).isNull();
      assertThat(copies.begin()).isNull();
    }
  }

  private static void forgotten() {
    var copies = new RowCopies(0);
    try (RowCopies.Making making = copies.begin()) {
      assertThat(making.complete(List.of(copy(making.exchange(), 0)))).isTrue();
    }
  }

  @Test
  void copiesThatNobodyClosesGiveTheirRoomBack() throws InterruptedException {
    forgotten();
    assertThat(ParsedRows.room().left()).isLessThan(left);
    for (int k = 0; k < 200 && Exchange.open() > open; k++) {
      System.gc();
      Thread.sleep(20);
    }
  }
}
