/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

/** R is the same wherever Spark keeps it: as it was made, on disk, as bytes, or computed again. */
class KeptFactorTest {

  private static final long SEED = Long.getLong("test.seed", 20261123L);

  private static final CsrMatrix A = Problems.withSingletons(Problems.grid(14, SEED), 5, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final double[] C = Problems.rhs(A.rows(), SEED + 2);

  private static GpuSparseQR.Builder builder() {
    return GpuSparseQR.builder()
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .keepQ(true)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  /** All results computed from R, Q and the data kept beside them. */
  private record Answers(double[] x, double[] further, double[] errors, RFactor r) {
    static Answers of(QRFactorization f) {
      JavaRDD<SparseRow> rows = Problems.rdd(A, 3, C);
      return new Answers(
          f.solve().x(), f.solveRelabeled(rows).x(), f.standardErrors(), f.collectR());
    }

    void requireSame(Answers other) {
      assertThat(other.x).as("seed %d", SEED).isEqualTo(x);
      assertThat(other.further).isEqualTo(further);
      assertThat(other.errors).isEqualTo(errors);
      assertThat(other.r.matrix().values()).isEqualTo(r.matrix().values());
      assertThat(other.r.rhs()).isEqualTo(r.rhs());
    }
  }

  private static List<RDDInfo> levels() {
    return StoredRdds.levels(LocalSpark.context());
  }

  @Test
  void whatSparkPushesToDiskIsReadAgain() {
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      Answers before = Answers.of(f);
      assertThat(levels()).isNotEmpty().allMatch(i -> i.memSize() > 0 && i.diskSize() == 0);
      var store = SparkEnv.get().blockManager().memoryStore();
      // blocks that an ending task still holds cannot be dropped yet
      long end = System.nanoTime() + 20_000_000_000L;
      while (levels().stream().anyMatch(i -> i.memSize() > 0) && System.nanoTime() < end) {
        store.evictBlocksToFreeSpace(Option.empty(), 1, MemoryMode.ON_HEAP);
      }
      assertThat(levels()).allMatch(i -> i.memSize() == 0 && i.diskSize() > 0);
      before.requireSame(Answers.of(f));
    }
  }

  @Test
  void aLevelThatIsGoneIsMadeAgain() {
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      Answers before = Answers.of(f);
      for (RDDInfo level : levels()) {
        for (int p = 0; p < level.numPartitions(); p++) {
          SparkEnv.get()
              .blockManager()
              .removeBlock(new org.apache.spark.storage.RDDBlockId(level.id(), p), true);
        }
      }
      before.requireSame(Answers.of(f));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"MEMORY_ONLY_SER", "DISK_ONLY", "MEMORY_ONLY"})
  void everyStorageLevelGivesTheSame(String level) {
    Answers usual;
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      usual = Answers.of(f);
    }
    var storage = StorageLevel.fromString(level);
    try (QRFactorization f = builder().storageLevel(storage).factorize(Problems.rdd(A, 3, B))) {
      usual.requireSame(Answers.of(f));
    }
    assertThat(levels()).isEmpty();
  }
}
