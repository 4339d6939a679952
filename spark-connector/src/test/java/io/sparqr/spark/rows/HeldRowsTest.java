/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.configuration.Keys;
import io.sparqr.jvm.ByteBudget;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HeldRowsTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);
  private static final AtomicLong READ = new AtomicLong();
  private int before;

  @BeforeEach
  void open() {
    before = Exchange.open();
    READ.set(0);
  }

  @AfterEach
  void nothingIsLeft() {
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
    assertThat(Exchange.open()).isEqualTo(before);
  }

  private static <T> T readTwice(Supplier<T> action) {
    System.setProperty(Keys.ROW_COPY_SHARE.name(), "0");
    try {
      return action.get();
    } finally {
      System.clearProperty(Keys.ROW_COPY_SHARE.name());
    }
  }

  /** Rows that differ in everything that a reading looks at. */
  private static List<SparseRow> rows(CsrMatrix a, int width, boolean weights) {
    var random = new Random(SEED);
    var list = new ArrayList<SparseRow>();
    for (int i = 0; i < a.rows(); i++) {
      int from = a.rowStart()[i];
      int count = i % 97 == 0 ? 0 : a.rowStart()[i + 1] - from;
      int[] index = new int[count];
      double[] value = new double[count];
      for (int k = 0; k < count; k++) {
        // descending in some rows, with zeros in others
        int at = from + (i % 5 == 0 ? count - 1 - k : k);
        index[k] = a.columnIndex()[at];
        value[k] = i % 7 == 0 && k == 0 && count > 1 ? 0 : a.values()[at];
      }
      double weight = !weights ? 1 : i % 11 == 0 ? 0 : 0.5 + random.nextDouble();
      double[] b = random.doubles(width, -1, 1).toArray();
      list.add(new SparseRow(index, value, b, weight, a.columns()));
    }
    return list;
  }

  /** With the last two of five partitions empty; every row read is counted. */
  private static JavaRDD<SparseRow> counted(List<SparseRow> rows) {
    SparseRow[] all = rows.toArray(SparseRow[]::new);
    int third = all.length / 3;
    int[] start = {0, third, 2 * third, all.length, all.length, all.length};
    return LocalSpark.context()
        .parallelize(IntStream.range(0, 5).boxed().toList(), 5)
        .flatMap(p -> Arrays.asList(all).subList(start[p], start[p + 1]).iterator())
        .map(
            r -> {
              READ.incrementAndGet();
              return r;
            });
  }

  private static void sameBits(LeastSquaresSolution x, LeastSquaresSolution y, int width) {
    for (int k = 0; k < width; k++) {
      assertThat(x.x(k)).as("right-hand side %d, seed %d", k, SEED).isEqualTo(y.x(k));
    }
    assertThat(x.residualNorm()).isEqualTo(y.residualNorm());
    assertThat(x.report().warnings()).isEqualTo(y.report().warnings());
  }

  private static void check(GpuSparseQR.Builder qr, List<SparseRow> rows) {
    int width = rows.get(0).labels().length;
    JavaRDD<SparseRow> rdd = counted(rows);
    SymbolicAnalysis known;
    try (QRFactorization f = qr.factorize(rdd)) {
      known = f.analysis();
    }
    GpuSparseQR.Builder given = qr.analysis(known);
    READ.set(0);
    LeastSquaresSolution twice = readTwice(() -> given.solve(rdd));
    assertThat(READ).hasValue(2L * rows.size());
    READ.set(0);
    LeastSquaresSolution once = given.solve(rdd);
    assertThat(READ).hasValue(rows.size());
    sameBits(once, twice, width);
    READ.set(0);
    try (QRFactorization f = given.factorize(rdd)) {
      assertThat(READ).hasValue(rows.size());
      sameBits(f.solve(), twice, width);
    }
  }

  @Test
  void theBitsOfRowsThatAreReadTwice() {
    CsrMatrix a = Problems.withSingletons(Problems.grid(20, SEED), 5, SEED);
    check(GpuSparseQR.builder(), rows(a, 1, false));
    check(GpuSparseQR.builder(), rows(a, 3, true));
    check(GpuSparseQR.builder().ridge(0.25), rows(a, 2, true));
  }

  @Test
  void whereRowsAreCombined() {
    check(GpuSparseQR.builder(), rows(Problems.random(3000, 8, 3, SEED), 2, true));
  }

  /** What copies for later right-hand sides take is not there for these rows. */
  @Test
  void whereOthersHaveTakenTheRoomRowsAreReadTwice() {
    List<SparseRow> rows = rows(Problems.grid(9, SEED), 1, true);
    JavaRDD<SparseRow> rdd = counted(rows);
    SymbolicAnalysis known;
    try (QRFactorization f = GpuSparseQR.builder().factorize(rdd)) {
      known = f.analysis();
    }
    GpuSparseQR.Builder given = GpuSparseQR.builder().analysis(known);
    LeastSquaresSolution twice;
    try (var others = new Exchange(ParsedRows.room())) {
      assertThat(others.take(ParsedRows.room().left())).isTrue();
      READ.set(0);
      twice = given.solve(rdd);
      assertThat(READ).hasValue(2L * rows.size());
    }
    READ.set(0);
    sameBits(given.solve(rdd), twice, 1);
    assertThat(READ).hasValue(rows.size());
  }

  @Test
  void anAnalysisOfAnotherPattern() {
    SymbolicAnalysis other;
    try (QRFactorization f =
        GpuSparseQR.builder().factorize(Problems.rdd(Problems.grid(6, SEED), 2, new double[100]))) {
      other = f.analysis();
    }
    List<SparseRow> rows = rows(Problems.grid(9, SEED), 1, true);
    GpuSparseQR.Builder wrong = GpuSparseQR.builder().analysis(other);
    LeastSquaresSolution x = wrong.solve(counted(rows));
    assertThat(x.report().warnings())
        .anyMatch(w -> w.equals("the given analysis is of another pattern: analyzed again"));
    assertThat(x.x()).isEqualTo(GpuSparseQR.solve(counted(rows)).x());
  }

  private static HeldRows held(long mostBytes) {
    return new HeldRows(new Exchange(new ByteBudget(mostBytes)));
  }

  private static Readings readings(Fingerprint f) {
    return new Readings(List.of(f));
  }

  /** The reader after all rows, and the rows left in what has room for so many bytes. */
  private static RowReader left(HeldRows held, List<SparseRow> rows) {
    var reader = new RowReader(0, -1);
    try (RowCollector collector = held.collector(0)) {
      for (SparseRow r : rows) {
        if (reader.read(r)) {
          collector.add(reader);
        }
      }
      HeldRows.leave(collector, reader.fingerprint());
    }
    return reader;
  }

  private static List<SparseRow> many() {
    // rows longer than a chunk, and more rows and entries than the largest chunks
    var rows = new ArrayList<SparseRow>(rows(Problems.random(70_000, 50, 2, SEED), 2, true));
    int[] wide = IntStream.range(0, 70_000).toArray();
    double[] value = new Random(SEED).doubles(wide.length, 1, 2).toArray();
    rows.replaceAll(r -> new SparseRow(r.indices(), r.values(), r.labels(), r.weight(), -1));
    rows.add(1, new SparseRow(wide, value, new double[] {1, 2}, 2, -1));
    rows.add(new SparseRow(wide, value, new double[] {3, 4}, 2, -1));
    return rows;
  }

  @Test
  void rowsComeBackAsTheyWereRead() {
    List<SparseRow> rows = many();
    try (var held = held(Long.MAX_VALUE)) {
      Fingerprint f = left(held, rows).fingerprint();
      var again = new RowReader(0, -1);
      var left = new LaterReading(again, 0, held.rows(0, readings(f)).orElseThrow());
      var reader = new RowReader(0, -1);
      for (SparseRow r : rows) {
        if (reader.read(r)) {
          assertThat(left.next()).isTrue();
          assertThat(again.count()).isEqualTo(reader.count());
          assertThat(IntStream.range(0, reader.count()))
              .allMatch(k -> again.index()[k] == reader.index()[k])
              .allMatch(k -> again.value()[k] == reader.value()[k]);
          assertThat(again.rhs()).isEqualTo(reader.rhs());
        }
      }
      assertThat(left.next()).isFalse();
      assertThat(left.next()).isFalse();
    }
  }

  @Test
  void ofAnotherReadingTheyAreNotUsed() {
    List<SparseRow> rows = rows(Problems.grid(5, SEED), 1, true);
    try (var held = held(Long.MAX_VALUE)) {
      Fingerprint f = left(held, rows).fingerprint();
      assertThat(held.rows(0, readings(f))).isPresent();
      assertThat(held.rows(1, new Readings(List.of(f, f)))).isEmpty();
      var other =
          new Fingerprint(
              f.rows(), f.nonzeros(), f.entries() + 1, f.weights(), f.labels(), f.unordered() + 1);
      assertThat(held.rows(0, readings(other))).isEmpty();
    }
  }

  @Test
  void atMostSoManyBytesAndARepeatedTaskTakesNoMore() {
    List<SparseRow> rows = many();
    long bytes;
    try (var exchange = new Exchange(new ByteBudget(Long.MAX_VALUE))) {
      var held = new HeldRows(exchange);
      left(held, rows);
      bytes = exchange.bytes();
      left(held, rows);
      assertThat(exchange.bytes()).isEqualTo(bytes);
    }
    try (var held = held(bytes)) {
      assertThat(held.rows(0, readings(left(held, rows).fingerprint()))).isPresent();
    }
    try (var exchange = new Exchange(new ByteBudget(bytes - 1))) {
      var held = new HeldRows(exchange);
      assertThat(held.rows(0, readings(left(held, rows).fingerprint()))).isEmpty();
      assertThat(exchange.bytes()).isZero();
    }
  }

  @Test
  void afterCloseNothingIsAccepted() {
    List<SparseRow> rows = rows(Problems.grid(5, SEED), 1, true);
    var budget = new ByteBudget(Long.MAX_VALUE);
    var held = new HeldRows(new Exchange(budget));
    held.close();
    held.close();
    Fingerprint f = left(held, rows).fingerprint();
    assertThat(held.rows(0, readings(f))).isEqualTo(Optional.empty());
    assertThat(budget.left()).isEqualTo(Long.MAX_VALUE);
  }
}
