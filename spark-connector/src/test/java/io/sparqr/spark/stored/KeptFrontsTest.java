/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.stored;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.storage.LateRows;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.numeric.storage.RowStore;
import io.sparqr.spark.wire.Frame;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.util.SizeEstimator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Rows of R that an executor keeps as they were made. */
class KeptFrontsTest {

  private static final long SEED = 20261123L;
  private static final int RHS = 2;

  /** Fronts of all kinds: without a row, with dead columns, one larger than a group. */
  private static List<FrontFactor> fronts() {
    var random = new Random(SEED);
    var fronts = new ArrayList<FrontFactor>();
    for (int f = 0; f < 60; f++) {
      int fn = f == 30 ? 3000 : 1 + random.nextInt(40);
      int fp = 1 + random.nextInt(fn);
      int[] live =
          random.ints(0, fp).distinct().limit(f % 7 == 0 ? 0 : fp).limit(2500).sorted().toArray();
      if (f == 30) {
        live = java.util.stream.IntStream.range(0, 2600).filter(k -> k % 13 != 5).toArray();
      }
      int values = Arrays.stream(live).map(k -> fn - k).sum();
      fronts.add(
          new FrontFactor(
              f,
              fn,
              live,
              random.doubles(values).toArray(),
              random.doubles((long) live.length * RHS).toArray(),
              RHS));
    }
    return fronts;
  }

  private static List<TaskOutput> kept(List<FrontFactor> fronts) {
    var kept = new ArrayList<TaskOutput>();
    kept.add(new TaskOutput.Report(Frame.seal(Frame.allocate(Frame.Kind.TASK, 0, 0, 0, 0, 0))));
    kept.addAll(KeptFronts.of(fronts, RHS, 2, null));
    return kept;
  }

  private static void requireSame(List<FrontFactor> fronts, List<FactorSegment> rows) {
    int next = 0;
    for (FrontFactor f : fronts) {
      int at = 0;
      int done = 0;
      while (done < f.rank()) {
        FactorSegment r = rows.get(next++);
        assertThat(r.front()).isEqualTo(f.front());
        assertThat(r.fn()).isEqualTo(f.fn());
        for (int i = 0; i < r.rows(); i++, done++) {
          int live = f.livePivot()[done];
          assertThat(r.livePivot(i)).isEqualTo(live);
          double[] row = new double[f.fn()];
          r.row(i, row);
          double[] values = new double[f.fn() - live];
          f.values().get(at, values);
          assertThat(Arrays.copyOfRange(row, live, f.fn())).isEqualTo(values);
          int from = (live + f.fn()) / 2;
          double[] part = new double[f.fn() - from];
          r.row(i, from, f.fn(), part);
          assertThat(part).isEqualTo(Arrays.copyOfRange(row, from, f.fn()));
          for (int k = 0; k < RHS; k++) {
            assertThat(r.rhs(i, k)).isEqualTo(f.rhs()[done * RHS + k]);
          }
          at += f.fn() - live;
        }
      }
    }
    assertThat(rows).as("seed %d", SEED).hasSize(next);
  }

  @Test
  void rowsAreThoseOfTheFronts() {
    List<FrontFactor> fronts = fronts();
    requireSame(fronts, KeptFronts.rows(kept(fronts).iterator(), 2, new Reading()));
  }

  @SuppressWarnings("unchecked")
  private static List<TaskOutput> byJava(List<TaskOutput> kept)
      throws IOException, ClassNotFoundException {
    var bytes = new ByteArrayOutputStream();
    try (var out = new ObjectOutputStream(bytes)) {
      out.writeObject(kept);
    }
    try (var in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (List<TaskOutput>) in.readObject();
    }
  }

  private static List<TaskOutput> byKryo(List<TaskOutput> kept) {
    var kryo = new Kryo();
    var target = new Output(1 << 16, -1);
    for (TaskOutput k : kept) {
      kryo.writeClassAndObject(target, k);
    }
    var source = new Input(target.toBytes());
    var read = new ArrayList<TaskOutput>();
    for (int k = 0; k < kept.size(); k++) {
      read.add((TaskOutput) kryo.readClassAndObject(source));
    }
    return read;
  }

  @Test
  void whatIsWrittenIsFramesAndReadAgain() throws IOException, ClassNotFoundException {
    List<FrontFactor> fronts = fronts();
    requireSame(fronts, KeptFronts.rows(byJava(kept(fronts)).iterator(), 2, new Reading()));
    List<TaskOutput> byKryo = byKryo(kept(fronts));
    requireSame(fronts, KeptFronts.rows(byKryo.iterator(), 1, new Reading()));
    // and once more, of what was read
    var again = new ArrayList<TaskOutput>();
    TaskOutput.ofFrames(KeptFronts.frames(byKryo.iterator(), k -> true))
        .forEachRemaining(again::add);
    requireSame(fronts, KeptFronts.rows(again.iterator(), 1, new Reading()));
  }

  @Test
  void framesAreThoseThatAreWanted() {
    List<FrontFactor> fronts = fronts();
    var kinds = new ArrayList<Frame.Kind>();
    KeptFronts.frames(kept(fronts).iterator(), k -> true)
        .forEachRemaining(f -> kinds.add(Frame.kind(f)));
    assertThat(kinds).startsWith(Frame.Kind.TASK, Frame.Kind.FACTOR).doesNotContainNull();
    assertThat(kinds.subList(1, kinds.size())).containsOnly(Frame.Kind.FACTOR);
    var some = KeptFronts.frames(kept(fronts).iterator(), k -> k == Frame.Kind.TASK);
    assertThat(some.next()).isNotNull();
    assertThat(some.hasNext()).isFalse();
    var chunks = new ArrayList<TaskOutput>();
    TaskOutput.ofFrames(FactorChunk.encode(new ArrayDeque<>(fronts), RHS, 1))
        .forEachRemaining(chunks::add);
    requireSame(fronts, KeptFronts.rows(chunks.iterator(), 2, new Reading()));
  }

  @Test
  void whatChangedInMemoryIsNotReadAsR() {
    List<FrontFactor> fronts = fronts();
    FrontFactor large = fronts.get(30);
    List<TaskOutput> kept = kept(fronts);
    long word = Double.doubleToRawLongBits(large.values().get(77_777));
    large.values().put(77_777, Double.longBitsToDouble(word ^ 1));
    assertThatThrownBy(() -> KeptFronts.rows(kept.iterator(), 2, new Reading()))
        .isInstanceOf(NumericalIntegrityException.class);
    assertThatThrownBy(
            () -> KeptFronts.frames(kept.iterator(), k -> true).forEachRemaining(f -> {}))
        .isInstanceOf(NumericalIntegrityException.class);
    large.values().put(77_777, Double.longBitsToDouble(word));
    int last = large.rank() - 1;
    int pivot = large.livePivot()[last];
    for (int changed : new int[] {large.livePivot()[last - 1], large.fn()}) {
      large.livePivot()[last] = changed;
      assertThatThrownBy(() -> KeptFronts.rows(kept.iterator(), 2, new Reading()))
          .isInstanceOf(NumericalIntegrityException.class);
    }
    large.livePivot()[last] = pivot;
    // the first row claims to begin further left: it would have more values than there are
    assertThat(large.livePivot()[5]).isEqualTo(6);
    large.livePivot()[5] = 5;
    assertThatThrownBy(() -> KeptFronts.rows(kept.iterator(), 2, new Reading()))
        .isInstanceOf(NumericalIntegrityException.class);
    assertThatThrownBy(
            () -> KeptFronts.frames(kept.iterator(), k -> true).forEachRemaining(f -> {}))
        .isInstanceOf(NumericalIntegrityException.class);
  }

  @Test
  void itsSizeIsWhatSparkWouldFind() {
    List<FrontFactor> fronts = fronts();
    long own =
        KeptFronts.of(fronts, RHS, 1, null).stream().mapToLong(KeptFronts::estimatedSize).sum();
    assertThat((double) own).isCloseTo(SizeEstimator.estimate(fronts), within(0.05 * own));
    double[] many = new double[1];
    var small = new ArrayList<FrontFactor>();
    for (int f = 0; f < 5000; f++) {
      small.add(new FrontFactor(f, 1, new int[] {0}, many.clone(), new double[RHS], RHS));
    }
    own = KeptFronts.of(small, RHS, 1, null).stream().mapToLong(KeptFronts::estimatedSize).sum();
    assertThat((double) own).isCloseTo(SizeEstimator.estimate(small), within(0.15 * own));
  }

  /** R elsewhere; empty: it is lost. */
  private record Elsewhere(Optional<List<FrontFactor>> rows) implements ResidentFactor {
    @Override
    public Optional<double[]> solve(double[] c, int width) {
      return Optional.empty();
    }

    @Override
    public Optional<double[]> forward(double[] c, int width) {
      return Optional.empty();
    }

    @Override
    public Optional<double[]> back(double[] given, int width) {
      return Optional.empty();
    }

    @Override
    public Optional<double[]> solveStored(double[] outside) {
      return Optional.empty();
    }

    @Override
    public Optional<List<FrontFactor>> fetch(RowMemory memory, int threads) {
      return rows;
    }

    @Override
    public void claimed(Claim claim) {}

    @Override
    public long entries() {
      return 0;
    }

    @Override
    public long bytes() {
      return 0;
    }

    @Override
    public void close() {}
  }

  private static List<TaskOutput> late(Optional<List<FrontFactor>> rows, RowStore store) {
    List<FrontFactor> fronts = fronts();
    long pivots = fronts.stream().mapToLong(FrontFactor::rank).sum();
    var late = new LateRows(new Elsewhere(rows), store, 1);
    return List.of(KeptFronts.of(late, fronts.size(), pivots, RHS, store));
  }

  /** What is elsewhere is fetched to be written; what is lost is read as lost, again and again. */
  @Test
  void rowsThatAreElsewhereAreWrittenAsIfTheyWereHere(@TempDir Path folder) throws Exception {
    List<FrontFactor> fronts = fronts().stream().filter(f -> f.rank() > 0).toList();
    try (var store = new RowStore(new RowBudget(1 << 20), folder)) {
      for (List<TaskOutput> read :
          List.of(
              late(Optional.of(fronts), store),
              byJava(new ArrayList<>(late(Optional.of(fronts), store))),
              byKryo(late(Optional.of(fronts), store)))) {
        assertThat(read).allMatch(KeptFronts::isHere);
        requireSame(fronts, KeptFronts.rows(read.iterator(), 1, new Reading()));
      }
      for (List<TaskOutput> read :
          List.of(
              late(Optional.empty(), store),
              byJava(new ArrayList<>(late(Optional.empty(), store))),
              byKryo(byKryo(late(Optional.empty(), store))))) {
        assertThat(read).hasSize(1).noneMatch(KeptFronts::isHere);
        assertThatThrownBy(() -> KeptFronts.rows(read.iterator(), 1, new Reading()))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("lost");
        assertThatThrownBy(
                () -> KeptFronts.frames(read.iterator(), k -> true).forEachRemaining(f -> {}))
            .hasMessageContaining("lost");
      }
    }
  }

  /** By both of Spark's serializers; Kryo's is the one with Spark's own settings. */
  @Test
  void everyElementComesBackAsItWas() {
    var all = new ArrayList<TaskOutput.Framed>();
    for (Frame.Kind kind :
        List.of(
            Frame.Kind.TASK,
            Frame.Kind.OBJECT,
            Frame.Kind.SPARSE,
            Frame.Kind.REFLECTORS,
            Frame.Kind.FACTOR)) {
      all.add(TaskOutput.of(Frame.seal(Frame.allocate(kind, 1, 2, 3, 4, 0))));
    }
    assertThat(all.stream().map(Object::getClass).distinct()).hasSize(5);
    for (Serializer serializer :
        List.of(new JavaSerializer(new SparkConf()), new KryoSerializer(new SparkConf()))) {
      for (TaskOutput.Framed element : all) {
        ClassTag<TaskOutput.Framed> tag = ClassTag$.MODULE$.apply(TaskOutput.Framed.class);
        SerializerInstance spark = serializer.newInstance();
        TaskOutput.Framed read = spark.deserialize(spark.serialize(element, tag), tag);
        assertThat(read).hasSameClassAs(element);
        assertThat(read.frame()).isEqualTo(element.frame());
      }
    }
    assertThatThrownBy(
            () -> TaskOutput.of(Frame.seal(Frame.allocate(Frame.Kind.BLOCK, 0, 0, 0, 0, 0))))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("BLOCK");
  }
}
