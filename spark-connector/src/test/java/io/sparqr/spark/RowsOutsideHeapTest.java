/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * R outside the heap: whatever happens to the memory, x and R keep their bits, and nothing is left
 * in the end.
 */
class RowsOutsideHeapTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);
  private static final CsrMatrix A = Problems.grid(14, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final double[] C = Problems.rhs(A.rows(), SEED + 2);

  /** Whether tasks that read rows fail. */
  private static final AtomicBoolean FAILING = new AtomicBoolean();

  private static final RowBudget BUDGET = RowBudget.ofJvm();

  private static GpuSparseQR.Builder builder() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  /** What is computed from R. */
  private record Answers(double[] x, double[] further, double[] r) {
    static Answers of(QRFactorization f) {
      JavaRDD<SparseRow> rows = Problems.rdd(A, 3, C);
      return new Answers(f.solve().x(), f.solveRelabeled(rows).x(), f.collectR().matrix().values());
    }

    void requireSame(Answers other) {
      assertThat(other.x).as("seed %d", SEED).isEqualTo(x);
      assertThat(other.further).isEqualTo(further);
      assertThat(other.r).isEqualTo(r);
    }
  }

  /** Memory that lost partitions had is counted until the collector has noticed. */
  private static void requireNothingLeft() throws InterruptedException {
    for (int k = 0; k < 200 && BUDGET.memoryBytes() + BUDGET.fileBytes() > 0; k++) {
      if (k > 50) {
        System.gc();
      }
      Thread.sleep(20);
    }
    assertThat(BUDGET.memoryBytes()).as("bytes of R left in memory").isZero();
    assertThat(BUDGET.fileBytes()).as("bytes of R left in files").isZero();
  }

  @BeforeEach
  @AfterEach
  void nothingIsLeft() throws InterruptedException {
    System.clearProperty(Keys.FACTOR_MEMORY.name());
    requireNothingLeft();
  }

  private static Answers usual() {
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      assertThat(BUDGET.memoryBytes()).isPositive();
      assertThat(BUDGET.fileBytes()).isZero();
      return Answers.of(f);
    }
  }

  private static List<RDDInfo> levels() {
    return StoredRdds.levels(LocalSpark.context());
  }

  private static SolveReport.FactorBytes where(GpuSparseQR.Builder qr) {
    try (QRFactorization f = qr.factorize(Problems.rdd(A, 3, B))) {
      SolveReport.FactorBytes where = f.summary().factorization().factorBytes();
      assertThat(where.memory()).isEqualTo(BUDGET.memoryBytes());
      assertThat(where.file()).isEqualTo(BUDGET.fileBytes());
      assertThat(f.solve().report().factorization().factorBytes()).isEqualTo(where);
      return where;
    }
  }

  @Test
  void theReportSaysWhereItIs() {
    GpuSparseQR.Builder one = GpuSparseQR.builder().backend(BackendChoice.CPU);
    SolveReport once = one.solve(Problems.rdd(A, 3, B)).report();
    assertThat(once.analysis().levels()).isEqualTo(1);
    assertThat(once.factorization().factorBytes()).isEqualTo(SolveReport.FactorBytes.NONE);
    SolveReport several = builder().solve(Problems.rdd(A, 3, B)).report();
    assertThat(several.analysis().levels()).isGreaterThan(1);
    long r = 8 * several.factorization().nnzR();
    assertThat(several.factorization().factorBytes().memory()).isGreaterThanOrEqualTo(r);

    SolveReport.FactorBytes usual = where(builder());
    assertThat(usual.memory()).isGreaterThanOrEqualTo(r);
    assertThat(usual).isEqualTo(new SolveReport.FactorBytes(0, usual.memory(), 0, 0));

    System.setProperty(Keys.FACTOR_MEMORY.name(), "0");
    SolveReport.FactorBytes files = where(builder());
    assertThat(files.file()).isGreaterThanOrEqualTo(r);
    assertThat(files).isEqualTo(new SolveReport.FactorBytes(0, 0, files.file(), 0));
    System.clearProperty(Keys.FACTOR_MEMORY.name());

    assertThat(where(builder().storageLevel(StorageLevel.MEMORY_ONLY_SER())))
        .isEqualTo(new SolveReport.FactorBytes(0, 0, 0, r));
  }

  @Test
  void closeFreesIt() throws InterruptedException {
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      long entries = f.collectR().matrix().values().length;
      assertThat(BUDGET.memoryBytes()).isGreaterThanOrEqualTo(8 * entries);
    }
    // without the collector's help
    for (int k = 0; k < 1000 && BUDGET.memoryBytes() > 0; k++) {
      Thread.sleep(20);
    }
    assertThat(BUDGET.memoryBytes()).isZero();
  }

  @Test
  void withoutABudgetAllOfItIsInFiles() {
    Answers usual = usual();
    System.setProperty(Keys.FACTOR_MEMORY.name(), "0");
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      assertThat(BUDGET.fileBytes()).isPositive();
      assertThat(f.solve().report().warnings())
          .anyMatch(w -> w.contains("in a temporary file (sparqr.factor.memory)"));
      usual.requireSame(Answers.of(f));
    }
  }

  @Test
  void anEvictedPartitionIsFreedAndReadFromDisk() {
    Answers usual = usual();
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      var store = SparkEnv.get().blockManager().memoryStore();
      long end = System.nanoTime() + 20_000_000_000L;
      while (BUDGET.memoryBytes() > 0 && System.nanoTime() < end) {
        store.evictBlocksToFreeSpace(Option.empty(), 1, MemoryMode.ON_HEAP);
      }
      assertThat(BUDGET.memoryBytes()).as("Spark closes what it evicts").isZero();
      assertThat(levels()).allMatch(i -> i.diskSize() > 0);
      usual.requireSame(Answers.of(f));
    }
  }

  @Test
  void aPartitionThatIsGoneIsMadeAgain() {
    Answers usual = usual();
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      for (RDDInfo level : levels()) {
        for (int p = 0; p < level.numPartitions(); p++) {
          SparkEnv.get().blockManager().removeBlock(new RDDBlockId(level.id(), p), true);
        }
      }
      assertThat(BUDGET.memoryBytes()).as("Spark closes what it removes").isZero();
      usual.requireSame(Answers.of(f));
    }
  }

  /** An executor that has not got a partition fetches the bytes that its holder makes of it. */
  @Test
  void whatAnotherExecutorFetchesIsTheSame() throws IOException {
    try (QRFactorization f = builder().factorize(Problems.rdd(A, 3, B))) {
      int handles = 0;
      for (RDDInfo level : levels()) {
        for (int p = 0; p < level.numPartitions(); p++) {
          handles += requireSameWhenFetched(new RDDBlockId(level.id(), p));
        }
      }
      assertThat(handles).isGreaterThan(2);
      assertThat(f.rank()).as("still there").isPositive();
    }
  }

  private static int requireSameWhenFetched(RDDBlockId block) throws IOException {
    BlockManager blocks = SparkEnv.get().blockManager();
    var here = new ArrayList<TaskOutput>();
    CollectionConverters.asJava(blocks.memoryStore().getValues(block).get())
        .forEachRemaining(element -> here.add((TaskOutput) element));
    var there = new ArrayList<TaskOutput>();
    ManagedBuffer data = blocks.getLocalBlockData(block);
    CollectionConverters.asJava(
            blocks
                .serializerManager()
                .dataDeserializeStream(
                    block,
                    data.createInputStream(),
                    ClassTag$.MODULE$.<TaskOutput>apply(TaskOutput.class)))
        .forEachRemaining(there::add);
    // With that, Spark's lock of the block.
    data.release();
    var own = new ArrayList<byte[]>();
    KeptFronts.frames(here.iterator(), k -> true).forEachRemaining(own::add);
    var fetched = new ArrayList<byte[]>();
    KeptFronts.frames(there.iterator(), k -> true).forEachRemaining(fetched::add);
    assertThat(fetched).hasSameSizeAs(own);
    for (int k = 0; k < own.size(); k++) {
      assertThat(fetched.get(k)).isEqualTo(own.get(k));
    }
    return (int) here.stream().filter(o -> o instanceof KeptFronts).count();
  }

  @Test
  void aTaskThatFailsLeavesNothing() throws InterruptedException {
    JavaRDD<SparseRow> rows =
        Problems.rdd(A, 3, B)
            .map(
                r -> {
                  TaskContext task = TaskContext.get();
                  if (FAILING.get() && task.partitionId() == 2) {
                    throw new IllegalStateException("planted");
                  }
                  return r;
                });
    FAILING.set(true);
    assertThatThrownBy(() -> builder().factorize(rows)).hasMessageContaining("planted");
    FAILING.set(false);
    requireNothingLeft();
  }

  @Test
  void aSolveOfOneUseLeavesNothing() throws InterruptedException {
    double[] x = usual().x();
    assertThat(builder().solve(Problems.rdd(A, 3, B)).x()).isEqualTo(x);
    requireNothingLeft();
  }

  @Test
  void theEndOfTheApplicationFreesIt() {
    QRFactorization f = builder().factorize(Problems.rdd(A, 3, B));
    assertThat(BUDGET.memoryBytes()).isPositive();
    LocalSpark.context().stop();
    assertThat(BUDGET.memoryBytes()).as("Spark closes what it has").isZero();
    f.close();
  }
}
