/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Contents;
import io.sparqr.error.WireFormatException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.Problems;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.NumberStream;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.TileModel;
import io.sparqr.symbolic.Tuning;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.spark.SerializableWritable;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerInstance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.reflect.ClassTag$;

/** A plan reaches the executors unchanged. */
@Tag("numbers")
class PlanCodecTest {

  private static final long SEED = Long.getLong("test.seed", 20260115L);

  /** Differs from the constants in every number. */
  private static final PlannedTuning TUNED =
      new PlannedTuning(
          new Tuning(new TileModel(new TileBundles(2, 3, 5, 7), 999, 33), false, 3, 12, 1 << 20),
          "file \u00bd.json of 2026-11-30");

  private static SolvePlan plan(CsrMatrix a, OrderingMethod method, DeviceVerdict verdict) {
    var random = new Random(SEED);
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withOrdering(method));
    TreePartition cut =
        analysis.fronts() == 0
            ? new TreePartition(List.of(), 0, new int[0], 0, 0)
            : TreePartitioner.partition(
                analysis,
                ResourceModel.uniform(3, 1e9, 1L << 30),
                new PartitionOptions(2, 4, 3, 0));
    var numbers =
        new SolvePlan.Numbers(
            2,
            1.25e-11,
            Ridge.of(0.5),
            verdict,
            1L << 40,
            true,
            new SolvePlan.Fronts(false, false, TUNED),
            true,
            Double.POSITIVE_INFINITY);
    var first = new Fingerprint(1, 2, random.nextLong(), random.nextLong(), -1, 1);
    return new SolvePlan(
        analysis,
        cut,
        random.doubles(analysis.columns(), 0.1, 10).toArray(),
        new double[] {1, 0x1p-500},
        numbers,
        new Readings(List.of(first, Fingerprint.ofNothing())));
  }

  static List<SolvePlan> plans() {
    CsrMatrix grid = Problems.withSingletons(Problems.grid(15, SEED), 4, SEED);
    // every column a singleton: no front, no task
    var diagonal =
        new CsrMatrix(3, 3, new int[] {0, 1, 2, 3}, new int[] {0, 1, 2}, new double[] {1, 2, 3});
    return List.of(
        plan(grid, OrderingMethod.NESTED_DISSECTION, new DeviceVerdict.Refuse("zu wenig: ½")),
        plan(grid, OrderingMethod.COLAMD, new DeviceVerdict.Use(true, "required")),
        plan(
            Problems.random(200, 30, 4, SEED),
            OrderingMethod.AMD,
            new DeviceVerdict.Use(false, "arithmetic intensity 7.0")),
        plan(diagonal, OrderingMethod.NATURAL, new DeviceVerdict.Refuse("")));
  }

  @Test
  void everyFieldComesBack() {
    for (SolvePlan plan : plans()) {
      List<byte[]> frames = PlanFrames.encode(plan);
      SolvePlan back = PlanFrames.decode(frames);
      // field by field, arrays by value, derived tables too
      Contents.requireSame(back, plan, "seed " + SEED);
      assertThat(PlanFrames.encode(back).toArray(new byte[0][]))
          .isDeepEqualTo(frames.toArray(new byte[0][]));
    }
    assertThat(plans().get(0).partition().levels()).isGreaterThan(1);
    assertThat(plans().get(0).analysis().singletons()).isPositive();
    assertThat(plans().get(3).analysis().fronts()).isZero();
  }

  /** A new component that is not sent would arrive with the constructor's default. */
  @Test
  void noFieldHasTheValueThatAForgottenOneWouldHave() throws ReflectiveOperationException {
    SolvePlan.Numbers n = plans().get(1).numbers();
    for (RecordComponent c : SolvePlan.Numbers.class.getRecordComponents()) {
      Object value = c.getAccessor().invoke(n);
      boolean told =
          value instanceof Boolean
              || value instanceof DeviceVerdict
              || value instanceof SolvePlan.Fronts
              || value instanceof Ridge r && r.any();
      assertThat(told || ((Number) value).doubleValue() != 0).as(c.getName()).isTrue();
    }
  }

  /** Serialized by Java it would be large, and any class of it could be what is deserialized. */
  @Test
  void thereIsNoOtherWay() {
    assertThat(Serializable.class.isAssignableFrom(SolvePlan.class)).isFalse();
  }

  /** Any byte of the frame changed, checksum right: an error, or another plan, no huge array. */
  @Test
  void aDamagedPlanIsRefusedOrAPlan() {
    byte[] good = PlanFrames.encode(plans().get(2)).get(0);
    int refused = 0;
    for (int at = Frame.HEADER; at < good.length; at++) {
      for (byte value : new byte[] {-1, 0, (byte) (good[at] ^ 1)}) {
        byte[] bad = good.clone();
        bad[at] = value;
        Frame.seal(ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN));
        try {
          PlanFrames.decode(bad);
        } catch (WireFormatException e) {
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(50);
    byte[] cut = Arrays.copyOf(good, good.length - 4);
    assertThatThrownBy(() -> PlanFrames.decode(cut)).isInstanceOf(WireFormatException.class);
  }

  /** What a factorization was saved with before there were tunings. */
  @Test
  void aPlanWithoutATuningHasTheConstants() throws IOException {
    for (SolvePlan plan : plans()) {
      byte[] frame = PlanFrames.encode(plan).get(0);
      var section = new ArrayList<byte[]>();
      var out = new NumberStream.Writer(Frame.Kind.PLAN, section::add);
      out.putInt(2).putInt(3).putInt(5).putInt(7).putInt(999).putInt(33);
      out.putBoolean(false).putInt(3).putInt(12).putInt(1 << 20).putText(TUNED.origin());
      out.end();
      int body = frame.length - section.get(0).length;
      ByteBuffer old = Frame.allocate(Frame.Kind.PLAN, 0, 1, 0, 0, body);
      old.put(frame, Frame.HEADER, body);
      SolvePlan back = PlanFrames.decode(Frame.seal(old));
      assertThat(back.numbers().fronts().tuned()).isEqualTo(PlannedTuning.NONE);
      Contents.requireSame(
          back.numbers().tuned(TUNED), plan.numbers(), "all but the tuning, seed " + SEED);
    }
  }

  /** A plan of many frames is read in the order written, and in no other. */
  @Test
  void aLongPlanComesInPieces() {
    SolvePlan plan =
        plan(
            Problems.random(60_000, 40_000, 3, SEED),
            OrderingMethod.AMD,
            new DeviceVerdict.Refuse(""));
    List<byte[]> frames = PlanFrames.encode(plan);
    assertThat(frames.size()).isGreaterThan(3);
    for (byte[] frame : frames) {
      assertThat(frame.length).isLessThanOrEqualTo(Frame.HEADER + NumberStream.CHUNK);
    }
    SolvePlan back = PlanFrames.decode(frames);
    Contents.requireSame(back, plan, "seed " + SEED);
    var fewer = new ArrayList<>(frames);
    fewer.remove(1);
    var swapped = new ArrayList<>(frames);
    Collections.swap(swapped, 1, 2);
    var cut = frames.subList(0, frames.size() - 1);
    for (List<byte[]> bad : List.of(fewer, swapped, cut)) {
      assertThatThrownBy(() -> PlanFrames.decode(bad)).isInstanceOf(WireFormatException.class);
    }
  }

  /** Under either of Spark's serializers, and as it writes itself. */
  @Test
  void aPlanGoesThroughSparksSerializers() {
    SolvePlan plan = plans().get(0);
    var conf = new SparkConf().set("spark.kryo.registrationRequired", "true");
    for (Serializer serializer : List.of(new JavaSerializer(conf), new KryoSerializer(conf))) {
      SerializerInstance one = serializer.newInstance();
      var tag = ClassTag$.MODULE$.apply(SerializableWritable.class);
      ByteBuffer bytes = one.serialize(new SerializableWritable<>(new PlanStream(plan)), tag);
      SerializableWritable<?> back =
          (SerializableWritable<?>) one.deserialize(bytes, getClass().getClassLoader(), tag);
      assertThat(((PlanStream) back.value()).plan()).usingRecursiveComparison().isEqualTo(plan);
    }
  }
}
