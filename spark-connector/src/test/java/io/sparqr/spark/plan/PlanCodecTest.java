/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.WireFormatException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.Problems;
import io.sparqr.spark.wire.Frame;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.Serializable;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A plan comes to the executors as it was made. */
class PlanCodecTest {

  private static final long SEED = Long.getLong("test.seed", 20260115L);

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
            2, 1.25e-11, 0.5, verdict, 1L << 40, true, false, true, Double.POSITIVE_INFINITY);
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
      SolvePlan back = PlanCodec.decode(PlanCodec.encode(plan));
      // field by field, arrays by value, derived tables too
      assertThat(back).as("seed %d", SEED).usingRecursiveComparison().isEqualTo(plan);
      assertThat(PlanCodec.encode(back)).isEqualTo(PlanCodec.encode(plan));
    }
    assertThat(plans().get(0).partition().levels()).isGreaterThan(1);
    assertThat(plans().get(0).analysis().singletons()).isPositive();
    assertThat(plans().get(3).analysis().fronts()).isZero();
  }

  /** A component that is new and not sent would come back as the constructor's default. */
  @Test
  void noFieldHasTheValueThatAForgottenOneWouldHave() throws ReflectiveOperationException {
    SolvePlan.Numbers n = plans().get(1).numbers();
    for (RecordComponent c : SolvePlan.Numbers.class.getRecordComponents()) {
      Object value = c.getAccessor().invoke(n);
      boolean told = value instanceof Boolean || value instanceof DeviceVerdict;
      assertThat(told || ((Number) value).doubleValue() != 0).as(c.getName()).isTrue();
    }
  }

  /** Serialized by Java it would be large, and any class of it could be what is deserialized. */
  @Test
  void thereIsNoOtherWay() {
    assertThat(Serializable.class.isAssignableFrom(SolvePlan.class)).isFalse();
  }

  /**
   * Any number of the frame made huge or negative, checksum and all: an error, not a huge array.
   */
  @Test
  void aDamagedPlanIsRefusedOrAPlan() {
    byte[] good = PlanCodec.encode(plans().get(2));
    int refused = 0;
    for (int at = 32; at + 4 <= good.length; at += 4) {
      for (int value : new int[] {Integer.MAX_VALUE, -1}) {
        byte[] bad = good.clone();
        ByteBuffer b = ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
        Frame.seal(b);
        try {
          PlanCodec.decode(bad);
        } catch (WireFormatException e) {
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(50);
    byte[] cut = java.util.Arrays.copyOf(good, good.length - 4);
    assertThatThrownBy(() -> PlanCodec.decode(cut)).isInstanceOf(WireFormatException.class);
  }
}
