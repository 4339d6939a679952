/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.reference.PlainDevice;
import io.sparqr.numeric.ResidentFactors;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

/**
 * R that is on a device and nowhere else, through Spark in one JVM: the same bits whatever becomes
 * of it, and nothing left behind. For a task of the whole tree, and for tasks of several levels.
 * The device is the plain Java executor.
 */
class OnlyOnDeviceTest {

  private static final PartitionOptions WHOLE = PartitionOptions.defaults();
  private static final PartitionOptions LEVELS = new PartitionOptions(2, 4, 3, 0);

  private static Stream<PartitionOptions> cuts() {
    return Stream.of(WHOLE, LEVELS);
  }

  private static final long SEED = Long.getLong("test.seed", 20261126L);
  private static final CsrMatrix A = Problems.grid(50, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final double[] C = Problems.rhs(A.rows(), SEED + 2);

  /** Of the last factorization. */
  private int tasks;

  @BeforeEach
  void plainDevice() throws InterruptedException {
    System.setProperty(PlainDevice.ON, "true");
    // an earlier test's
    awaitNoRowsOnTheHost();
  }

  @AfterEach
  void nothingIsLeft() throws InterruptedException {
    System.clearProperty(PlainDevice.ON);
    awaitNoRowsOnTheHost();
    assertThat(PlainDevice.kept()).as("rows on the device").isZero();
    assertThat(ResidentFactors.ofJvm().size()).isZero();
    assertThat(RowBudget.ofJvm().memoryBytes()).isZero();
    assertThat(RowBudget.ofJvm().fileBytes()).isZero();
    assertThat(StoredRdds.levels(LocalSpark.context())).isEmpty();
  }

  /** Spark drops partitions behind close(). */
  private static void awaitNoRowsOnTheHost() throws InterruptedException {
    for (int k = 0; k < 500 && RowBudget.ofJvm().memoryBytes() > 0; k++) {
      Thread.sleep(20);
    }
  }

  private QRFactorization factorization(PartitionOptions cut, StorageLevel level) {
    QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.REQUIRE_CUDA)
            .storageLevel(level)
            .partitionOptions(cut)
            .factorize(Problems.rdd(A, 3, B));
    SolveReport.Analysis analysis = f.summary().analysis();
    assertThat(analysis.levels() > 1).isEqualTo(cut.equals(LEVELS));
    tasks = analysis.subtreeTasks();
    return f;
  }

  private QRFactorization factorization(PartitionOptions cut) {
    return factorization(cut, StorageLevel.MEMORY_AND_DISK());
  }

  /** Results from R itself, as rows, and by solves that need not have them. */
  private record Answers(double[] x, double[] further, double[] errors, double[] r, double[] c) {
    static Answers of(QRFactorization f) {
      RFactor r = f.collectR();
      return new Answers(
          f.solve().x(),
          f.solveRelabeled(Problems.rdd(A, 3, C)).x(),
          f.standardErrors(),
          r.matrix().values(),
          r.rhs());
    }

    void requireSame(Answers other) {
      assertThat(other.x).as("seed %d", SEED).isEqualTo(x);
      assertThat(other.further).isEqualTo(further);
      requireSameRows(other);
    }

    void requireSameRows(Answers other) {
      assertThat(other.r).as("seed %d", SEED).isEqualTo(r);
      assertThat(other.c).isEqualTo(c);
      assertThat(other.errors).isEqualTo(errors);
    }
  }

  /** R as frames, which cannot stay on the device alone. */
  private Answers ofFrames(PartitionOptions cut) {
    try (QRFactorization f = factorization(cut, StorageLevel.MEMORY_ONLY_SER())) {
      long entries = f.summary().factorization().nnzR();
      assertThat(inMemory()).isGreaterThan(Math.max(100_000, Double.BYTES * entries));
      return Answers.of(f);
    }
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void solvesBringNothingToTheHostAndRowsComeWhenTheyAreAskedFor(PartitionOptions cut) {
    Answers frames = ofFrames(cut);
    try (QRFactorization f = factorization(cut)) {
      SolveReport report = f.solve().report();
      assertThat(report.factorization().factorBytes().device()).isPositive();
      assertThat(report.factorization().factorBytes().memory()).isZero();
      double[] x = f.solve().x();
      double[] further = f.solveRelabeled(Problems.rdd(A, 3, C)).x();
      assertThat(Problems.normalResidual(A, x, B)).isLessThan(Tolerances.NORMAL_RESIDUAL);
      assertThat(Problems.normalResidual(A, further, C)).isLessThan(Tolerances.NORMAL_RESIDUAL);
      assertThat(RowBudget.ofJvm().memoryBytes()).as("bytes of R on the host").isZero();
      assertThat(inMemory()).as("no blocks, no rows").isLessThan(100_000 + 10_000L * tasks);
      Answers all = Answers.of(f);
      assertThat(RowBudget.ofJvm().memoryBytes()).as("bytes of R on the host").isPositive();
      assertThat(all.x).isEqualTo(x);
      assertThat(all.further).isEqualTo(further);
      frames.requireSame(all);
    }
  }

  /** Answers after something has become of R, and how often its task was done. */
  private int factoredAfter(
      PartitionOptions cut, boolean stillThere, Consumer<QRFactorization> event) {
    Answers frames = ofFrames(cut);
    try (QRFactorization f = factorization(cut)) {
      Answers before = new Answers(f.solve().x(), null, null, null, null);
      int factored = PlainDevice.factored();
      event.accept(f);
      int again = PlainDevice.factored() - factored;
      Answers after = Answers.of(f);
      frames.requireSameRows(after);
      if (stillThere) {
        assertThat(after.x).isEqualTo(before.x);
        frames.requireSame(after);
      } else {
        // by the rows on the host, whose sums have another order
        requireNear(after.x, frames.x);
        requireNear(after.further, frames.further);
      }
      return again + PlainDevice.factored() - factored;
    }
  }

  private static void requireNear(double[] x, double[] expected) {
    for (int j = 0; j < x.length; j++) {
      assertThat(x[j]).as("seed %d, x %d", SEED, j).isCloseTo(expected[j], within(expected));
    }
  }

  private static org.assertj.core.data.Offset<Double> within(double[] x) {
    return org.assertj.core.data.Offset.offset(1e5 * Math.ulp(1.0) * Problems.norm(x));
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void rowsWhoseMemoryIsNeededAreOnTheHostThen(PartitionOptions cut) {
    int factored =
        factoredAfter(
            cut,
            false,
            f -> {
              PlainDevice.giveWay();
              assertThat(RowBudget.ofJvm().memoryBytes()).isPositive();
            });
    assertThat(factored).isZero();
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void lostRowsAreMadeAgainByTheTaskThatNeedsThem(PartitionOptions cut) {
    assertThat(factoredAfter(cut, true, f -> PlainDevice.lose())).isEqualTo(tasks);
  }

  /**
   * R'y = c is solved, R is lost, and R x = y is solved with the rows that are made again: these
   * are the same, so that y is theirs, too.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void rowsThatAreLostBetweenTheWaysUpAndDownGiveTheSameSolution(int way) {
    try (QRFactorization f = factorization(LEVELS)) {
      assertThat(tasks).isGreaterThan(2);
      LeastSquaresSolution before = f.solveRelabeled(Problems.rdd(A, 3, C));
      assertThat(Problems.normalResidual(A, before.x(), C)).isLessThan(Tolerances.NORMAL_RESIDUAL);
      requireResident(tasks, before);
      int factored = PlainDevice.factored();
      // the second way down is that of the refinement, which the report is about
      PlainDevice.loseOnTheWayDown((way - 1) * tasks);
      LeastSquaresSolution then = f.solveRelabeled(Problems.rdd(A, 3, C));
      requireNear(then.x(), before.x());
      assertThat(Problems.normalResidual(A, then.x(), C)).isLessThan(Tolerances.NORMAL_RESIDUAL);
      requireResident(way == 1 ? tasks : 0, then);
      assertThat(PlainDevice.factored() - factored).as("made again").isEqualTo(tasks);
      LeastSquaresSolution after = f.solveRelabeled(Problems.rdd(A, 3, C));
      requireResident(tasks, after);
      assertThat(after.x()).isEqualTo(before.x());
      assertThat(PlainDevice.factored() - factored).as("once").isEqualTo(tasks);
    }
  }

  private void requireResident(int expected, LeastSquaresSolution solution) {
    assertThat(String.join("\n", solution.report().notes()))
        .contains("R on the device for %d of %d tasks".formatted(expected, tasks));
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void changedRowsAreMadeAgain(PartitionOptions cut) {
    assertThat(factoredAfter(cut, true, f -> PlainDevice.corrupt())).isEqualTo(tasks);
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void whatSparkPushesToDiskIsReadAgain(PartitionOptions cut) {
    int factored =
        factoredAfter(
            cut,
            true,
            f -> {
              pushToDisk();
              assertThat(inMemory()).isZero();
              assertThat(stored(RDDInfo::diskSize)).isGreaterThan(100_000);
              assertThat(RowBudget.ofJvm().memoryBytes()).as("freed once written").isZero();
            });
    assertThat(factored).isZero();
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void lostRowsThatSparkPushesToDiskAreMadeAgain(PartitionOptions cut) {
    int factored =
        factoredAfter(
            cut,
            true,
            f -> {
              PlainDevice.lose();
              pushToDisk();
            });
    assertThat(factored).isEqualTo(tasks);
  }

  private static void pushToDisk() {
    var store = SparkEnv.get().blockManager().memoryStore();
    // blocks that an ending task still holds cannot be dropped yet
    long end = System.nanoTime() + 20_000_000_000L;
    while (inMemory() > 0 && System.nanoTime() < end) {
      store.evictBlocksToFreeSpace(Option.empty(), 1, MemoryMode.ON_HEAP);
    }
  }

  private static long inMemory() {
    return stored(RDDInfo::memSize);
  }

  /** Of all levels. */
  private static long stored(ToLongFunction<RDDInfo> bytes) {
    return StoredRdds.levels(LocalSpark.context()).stream().mapToLong(bytes).sum();
  }
}
