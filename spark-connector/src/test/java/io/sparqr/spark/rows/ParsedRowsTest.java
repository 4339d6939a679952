/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.jvm.ByteBudget;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Rows that are kept with their weights; those without are in {@link HeldRowsTest}. */
class ParsedRowsTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);
  private static final int COLUMNS = 300_000;

  /** More rows and entries than the largest chunks, rows without entries, and long ones. */
  private static List<SparseRow> rows(int count, double zeroWeights, boolean weights) {
    var random = new Random(SEED);
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < count; i++) {
      int length = i % 5000 == 7 ? 70_000 : random.nextInt(4);
      int[] index = IntStream.range(0, length).map(k -> 3 * k + random.nextInt(3)).toArray();
      double[] value = random.doubles(length, 1, 2).toArray();
      double weight = random.nextDouble() < zeroWeights ? 0 : weights ? 1 + random.nextInt(3) : 1;
      rows.add(new SparseRow(index, value, random.doubles(2, -1, 1).toArray(), weight, COLUMNS));
    }
    return rows;
  }

  private record Kept(ParsedRows rows, RowRhs rhs) {}

  private static Kept kept(List<SparseRow> rows, Exchange exchange, Fingerprint expected) {
    var reader = new RowReader(0, COLUMNS);
    try (RowCollector collector = RowCollector.weighted(exchange, 0, expected)) {
      for (SparseRow row : rows) {
        if (reader.read(row)) {
          collector.add(reader);
        }
      }
      collector.end(reader);
      if (!collector.complete()) {
        return null;
      }
      var kept = new Kept(collector.rows(reader.fingerprint()), collector.rhs());
      collector.leave(kept);
      return kept;
    }
  }

  /** Compares with another reading, row by row and run by run. */
  private static void assertSame(Kept kept, List<SparseRow> rows) {
    var reader = new RowReader(0, COLUMNS);
    var left = new RowReader(0, COLUMNS);
    ParsedRows.Cursor at = kept.rows.cursor();
    int next = 0;
    for (ParsedRows.Run run : kept.rows.runs()) {
      int from = run.from();
      for (int i = run.first(); i < run.afterLast(); i++) {
        SparseRow row = rows.get(next++);
        boolean counts = reader.read(row);
        double scale = Math.sqrt(row.weight());
        assertThat(at.next()).isTrue();
        assertThat(at.scale()).isEqualTo(scale);
        assertThat(run.scale() == null ? 1 : run.scale()[i]).isEqualTo(scale);
        int count = counts ? reader.count() : 0;
        int to = from + run.length()[i];
        at.take(left);
        kept.rhs.take(at, left);
        assertThat(left.count()).isEqualTo(count).isEqualTo(to - from);
        double[] rhs = counts ? reader.rhs() : new double[2];
        assertThat(left.rhs()).isEqualTo(rhs);
        double[] values = kept.rhs.values(run);
        assertThat(Arrays.equals(rhs, 0, 2, values, 2 * i, 2 * i + 2)).isTrue();
        assertThat(Arrays.equals(reader.index(), 0, count, left.index(), 0, count)).isTrue();
        assertThat(Arrays.equals(reader.value(), 0, count, left.value(), 0, count)).isTrue();
        assertThat(Arrays.equals(reader.index(), 0, count, run.index(), from, to)).isTrue();
        assertThat(Arrays.equals(reader.value(), 0, count, run.value(), from, to)).isTrue();
        from = to;
      }
    }
    assertThat(next).as("rows, seed %d", SEED).isEqualTo(rows.size());
    assertThat(at.next()).isFalse();
    assertThat(at.next()).isFalse();
  }

  @Test
  void rowsComeBackAtTheirPositionsWithTheirWeights() {
    for (List<SparseRow> rows :
        List.of(
            rows(0, 0, false),
            rows(1, 1, false),
            rows(3000, 1, false),
            rows(80_000, 0, false),
            rows(80_000, 0.3, false),
            rows(80_000, 0.01, true))) {
      try (var exchange = new Exchange()) {
        Kept kept = kept(rows, exchange, Fingerprint.ofNothing());
        assertSame(kept, rows);
        assertThat(exchange.find(0, Kept.class)).contains(kept);
        assertSame(kept(rows, exchange, kept.rows.fingerprint()), rows);
        // numbers that prove wrong
        assertSame(kept(rows, exchange, new Fingerprint(5, 5, 0, 0, 0, 0)), rows);
      }
    }
  }

  @Test
  void expectedRowsTakeNoMoreThanTheirBytes() {
    var random = new Random(SEED);
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < 100_001; i++) {
      rows.add(new SparseRow(new int[] {i}, new double[] {1}, random.doubles(2).toArray(), 1, -1));
    }
    rows.replaceAll(r -> new SparseRow(r.indices(), r.values(), r.labels(), 1, COLUMNS));
    var expected = new Fingerprint(rows.size(), rows.size(), 0, 0, 0, 0);
    long bytes = (12 + 4 + 16) * 100_001L;
    var budget = new ByteBudget(bytes);
    try (var exchange = new Exchange(budget)) {
      assertThat(kept(rows, exchange, expected)).isNotNull();
      assertThat(budget.left()).isZero();
      // a repeated task finds no room beside the rows of its first run, which stay
      assertThat(kept(rows, exchange, expected)).isNull();
      assertThat(exchange.bytes()).isEqualTo(bytes);
    }
    assertThat(budget.left()).isEqualTo(bytes);
    try (var exchange = new Exchange(new ByteBudget(bytes - 1))) {
      assertThat(kept(rows, exchange, expected)).isNull();
      assertThat(exchange.bytes()).isZero();
    }
  }

  @Test
  void whatATaskDoesNotLeaveTakesNoRoom() {
    List<SparseRow> rows = rows(1000, 0.3, true);
    try (var exchange = new Exchange()) {
      var reader = new RowReader(0, COLUMNS);
      try (RowCollector collector = RowCollector.weighted(exchange, 0, Fingerprint.ofNothing())) {
        for (SparseRow row : rows) {
          if (reader.read(row)) {
            collector.add(reader);
          }
        }
        assertThat(exchange.bytes()).isPositive();
      }
      assertThat(exchange.bytes()).isZero();
    }
  }

  @Test
  void otherRightHandSidesOfTheSameRows() {
    List<SparseRow> rows = rows(2000, 0.3, true);
    try (var exchange = new Exchange()) {
      ParsedRows parsed = kept(rows, exchange, Fingerprint.ofNothing()).rows;
      RowRhs other = parsed.zeroRhs(3);
      ParsedRows.Cursor at = parsed.cursor();
      for (int i = 0; at.next(); i++) {
        other.set(at, new double[] {i, -i, 2.0 * i});
      }
      var reader = new RowReader(0, COLUMNS);
      at = parsed.cursor();
      for (int i = 0; i < rows.size(); i++) {
        assertThat(at.next()).isTrue();
        other.take(at, reader);
        assertThat(reader.rhs()).containsExactly(i, -i, 2.0 * i);
      }
    }
  }
}
