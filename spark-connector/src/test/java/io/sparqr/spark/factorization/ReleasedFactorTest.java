/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.jvm.NamedObjects;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.lang.reflect.Field;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;

/** R on the executors: it may be evicted at any time, and nothing of it is left after close. */
class ReleasedFactorTest {

  private static final long SEED = 20261203L;
  private static final CsrMatrix A = Problems.grid(12, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED);

  private static GpuSparseQR.Builder cut() {
    return GpuSparseQR.builder()
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  /** Drops every stored block of every persisted RDD, as eviction may; returns how many. */
  private static int evict(JavaSparkContext context) {
    int dropped = 0;
    for (JavaRDD<?> rdd : context.getPersistentRDDs().values()) {
      for (int p = 0; p < rdd.getNumPartitions(); p++) {
        var block = new RDDBlockId(rdd.id(), p);
        if (SparkEnv.get().blockManager().getStatus(block).isDefined()) {
          SparkEnv.get().blockManager().removeBlock(block, true);
          dropped++;
        }
      }
    }
    return dropped;
  }

  @Sampled(oneIn = 3)
  @Test
  void rThatIsEvictedIsComputedAgain() {
    JavaSparkContext context = LocalSpark.context();
    for (StorageLevel level : new StorageLevel[] {null, StorageLevel.MEMORY_ONLY()}) {
      GpuSparseQR.Builder builder = level == null ? cut() : cut().storageLevel(level);
      double[] x = builder.solve(Problems.rdd(A, 2, B)).x();
      double[] errors;
      try (QRFactorization whole = builder.factorize(Problems.rdd(A, 2, B))) {
        errors = whole.unscaledErrors();
      }
      try (QRFactorization f = builder.factorize(Problems.rdd(A, 2, B))) {
        StorageLevel expected = level == null ? StorageLevel.MEMORY_AND_DISK() : level;
        assertThat(context.getPersistentRDDs().values())
            .hasSizeGreaterThanOrEqualTo(3)
            .allMatch(rdd -> rdd.getStorageLevel().equals(expected))
            .noneMatch(rdd -> rdd.rdd().isCheckpointed());
        // x of the factored right-hand sides was found while R was at hand
        assertThat(f.solve().x()).isEqualTo(x);
        assertThat(evict(context)).isGreaterThanOrEqualTo(3);
        assertThat(f.unscaledErrors()).isEqualTo(errors);
        assertThat(evict(context)).isGreaterThanOrEqualTo(3);
        assertThat(f.solveRelabeled(Problems.rdd(A, 3, B)).x())
            .containsExactly(x, within(Tolerances.REORDERED));
        assertThat(evict(context)).isGreaterThanOrEqualTo(3);
        assertThat(f.collectR().matrix().rows()).isEqualTo(A.columns());
      }
    }
  }

  private static Object field(Class<?> type, Object of, String name) {
    try {
      Field field = type.getDeclaredField(name);
      field.setAccessible(true);
      return field.get(of);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static int knownPlans() {
    var all = (Map<?, ?>) field(NamedObjects.class, NamedObjects.ofJvm(), "all");
    return (int)
        all.keySet().stream()
            .filter(name -> ((NamedObjects.Name<?>) name).type() == SolvePlan.class)
            .count();
  }

  @Test
  void closeReleasesThePlan() {
    int plans = knownPlans();
    RowSource rows = RowSource.of(Problems.rdd(A, 2, B));
    FactorState f = Pipeline.factorize(rows, cut().build().options(), ProgressListener.NONE);
    f.solve();
    assertThat(knownPlans()).isEqualTo(plans + 1);
    var made = (FactorRun) field(FactorState.class, f, "made");
    assertThat(field(PlanHandle.class, made.plan(), "broadcast")).as("a local master").isNull();
    PlanHandle sent = PlanHandle.sent(LocalSpark.context(), made.plan().value());
    assertThat(knownPlans()).isEqualTo(plans + 2);
    var broadcast = (Broadcast<?>) field(PlanHandle.class, sent, "broadcast");
    assertThat(broadcast.value()).isNotNull();
    sent.release();
    assertThat(knownPlans()).isEqualTo(plans + 1);
    assertThatThrownBy(broadcast::value).hasMessageContaining("destroyed");
    f.close();
    assertThat(knownPlans()).isEqualTo(plans);
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();

    assertThatThrownBy(
            () ->
                cut()
                    .rankPolicy(RankPolicy.FAIL)
                    .rankTolerance(1e3)
                    .factorize(Problems.rdd(A, 2, B)))
        .isInstanceOf(io.sparqr.error.RankDeficientException.class);
    assertThat(knownPlans()).as("after an error").isEqualTo(plans);
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }
}
