/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LeastSquaresSolution;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.resource.Exchange;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

class HeldBatchesTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);

  private static byte[] batch(int partition, int number) {
    var b = new RowBatchCodec.Builder(1);
    b.add(0, new int[] {number}, new double[] {partition}, 0, 1, new double[] {1}, 0);
    return b.take(partition, number);
  }

  private static List<Tuple2<Integer, byte[]>> all(Iterator<Tuple2<Integer, byte[]>> it) {
    var list = new ArrayList<Tuple2<Integer, byte[]>>();
    it.forEachRemaining(list::add);
    return list;
  }

  @Test
  void ticketsStandForBatchesUpToALimit() {
    List<Tuple2<Integer, byte[]>> batches = new ArrayList<>();
    for (int p = 0; p < 2; p++) {
      for (int k = 0; k < 3; k++) {
        batches.add(new Tuple2<>(k, batch(p, k)));
      }
    }
    int size = batches.get(0)._2().length;
    int before = Exchange.open();
    try (var held = new HeldBatches(4L * size)) {
      List<Tuple2<Integer, byte[]>> sent = all(held.sent(batches.iterator()));
      for (int k = 0; k < batches.size(); k++) {
        assertThat(sent.get(k)._1()).isEqualTo(batches.get(k)._1());
        assertThat(Frame.kind(sent.get(k)._2()))
            .isEqualTo(k < 4 ? Frame.Kind.TICKET : Frame.Kind.ROWS);
        assertThat(HeldBatches.received(sent.get(k)._2())).isSameAs(batches.get(k)._2());
      }
      assertThat(held.bytes()).isEqualTo(4L * size);
      // a repeated task: the same batches take no more room
      List<Tuple2<Integer, byte[]>> again =
          all(held.sent(List.of(new Tuple2<>(0, batch(0, 0))).iterator()));
      assertThat(HeldBatches.received(again.get(0)._2())).isEqualTo(batches.get(0)._2());
      assertThat(held.bytes()).isLessThanOrEqualTo(4L * size);
      assertThat(Exchange.open()).isEqualTo(before + 1);
    }
    assertThat(Exchange.open()).isEqualTo(before);
  }

  @Test
  void nothingIsHeldAfterClose() {
    var held = new HeldBatches(1 << 20);
    byte[] ticket = all(held.sent(List.of(new Tuple2<>(0, batch(0, 0))).iterator())).get(0)._2();
    held.close();
    held.close();
    assertThatThrownBy(() -> HeldBatches.received(ticket))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no longer held");
    byte[] late = all(held.sent(List.of(new Tuple2<>(0, batch(0, 1))).iterator())).get(0)._2();
    assertThat(Frame.kind(late)).isEqualTo(Frame.Kind.ROWS);
  }

  /** A solve sends tickets, a factorization rows; the bits are the same, and nothing is left. */
  @Test
  void theBitsOfRowsThatWereShuffled() throws InterruptedException, TimeoutException {
    CsrMatrix a = Problems.random(4000, 300, 6, SEED);
    double[] b = Problems.rhs(4000, SEED);
    int before = Exchange.open();
    var written = new AtomicLong();
    var listener =
        new SparkListener() {
          @Override
          public void onTaskEnd(SparkListenerTaskEnd end) {
            written.addAndGet(end.taskMetrics().shuffleWriteMetrics().bytesWritten());
          }
        };
    LocalSpark.context().sc().addSparkListener(listener);
    try {
      LeastSquaresSolution once = GpuSparseQR.solve(Problems.rdd(a, 3, b));
      settle();
      long tickets = written.getAndSet(0);
      try (QRFactorization f = GpuSparseQR.builder().build().factorize(Problems.rdd(a, 3, b))) {
        settle();
        assertThat(f.solve().x()).as("seed %d", SEED).isEqualTo(once.x());
      }
      assertThat(tickets).isBetween(1L, written.get() / 10);
    } finally {
      LocalSpark.context().sc().removeSparkListener(listener);
    }
    assertThat(Exchange.open()).isEqualTo(before);
  }

  private static void settle() throws InterruptedException, TimeoutException {
    LocalSpark.context().sc().listenerBus().waitUntilEmpty(10_000);
  }
}
