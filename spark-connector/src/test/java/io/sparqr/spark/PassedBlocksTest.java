/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.wire.Frame;
import io.sparqr.sparse.CsrMatrix;
import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Contribution blocks go to the shuffle from the run that makes R, and are stored nowhere else;
 * where a file of the shuffle is lost after that, they are made again.
 */
@Tag("once")
class PassedBlocksTest {

  private static final long SEED = Long.getLong("test.seed", 20261127L);
  private static final CsrMatrix A = Problems.grid(30, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final String BLOCKS = "sparqr contribution blocks, ";

  @AfterEach
  void nothingIsLeft() {
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }

  private static QRFactorization factorization(String storage, ProgressListener listener) {
    return GpuSparseQR.builder()
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0))
        .storageLevel(StorageLevel.fromString(storage))
        .listener(listener)
        .factorize(Problems.rdd(A, 3, B));
  }

  /** When a level is about to begin: how many RDDs of R are stored, and whether any other is. */
  private static final class Watch implements ProgressListener {
    private final Set<String> seen = ConcurrentHashMap.newKeySet();
    private final Map<String, Long> levels = new TreeMap<>();
    private final Set<String> others = new TreeSet<>();

    @Override
    public void update(Progress p) {
      if (p.phase().equals("factorize")
          && p.detail().startsWith("level ")
          && seen.add(p.detail())) {
        var names =
            LocalSpark.context().getPersistentRDDs().values().stream().map(JavaRDD::name).toList();
        levels.put(
            p.detail().substring(0, 7),
            names.stream().filter(n -> n.startsWith("sparqr R, level ")).count());
        names.stream().filter(n -> !n.startsWith("sparqr R, level ")).forEach(others::add);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"MEMORY_AND_DISK", "MEMORY_ONLY_SER", "DISK_ONLY"})
  void rAloneStaysStored(String storage) {
    var watch = new Watch();
    try (QRFactorization f = factorization(storage, watch)) {
      int levels = f.summary().analysis().levels();
      assertThat(levels).isGreaterThan(2);
      // before each level those below it, and nothing for the blocks between
      assertThat(watch.levels).as("seed %d", SEED).hasSize(levels);
      for (long l = 1; l <= levels; l++) {
        assertThat(watch.levels).containsEntry("level " + l, l - 1);
      }
      assertThat(watch.others).isEmpty();
      if (storage.equals("MEMORY_ONLY_SER")) {
        requireFramesOfRAlone();
      }
    }
  }

  /** The bytes of the levels are those of reports and rows of R, and Java's few for each frame. */
  @SuppressWarnings("unchecked")
  private static void requireFramesOfRAlone() {
    long frames = 0;
    long own = 0;
    for (JavaRDD<?> level : LocalSpark.context().getPersistentRDDs().values()) {
      for (byte[] frame : ((JavaRDD<byte[]>) level).collect()) {
        assertThat(Frame.kind(frame)).isIn(Frame.Kind.TASK, Frame.Kind.FACTOR);
        frames++;
        own += frame.length;
      }
    }
    long stored =
        StoredRdds.levels(LocalSpark.context()).stream().mapToLong(i -> i.memSize()).sum();
    assertThat(stored).isBetween(own, own + 64 * frames);
  }

  /** R and the blocks come from the same run, and the reports with its end. */
  @Test
  void eachLevelIsOneStage() throws Exception {
    var stages = new CopyOnWriteArrayList<String>();
    var fronts = new AtomicLong();
    var listener = new Stages(stages, fronts);
    LocalSpark.context().sc().addSparkListener(listener);
    try (QRFactorization f = factorization("MEMORY_AND_DISK", ProgressListener.NONE)) {
      LocalSpark.context().sc().listenerBus().waitUntilEmpty();
      int levels = f.summary().analysis().levels();
      assertThat(stages.stream().filter(s -> s.contains(" level ")).toList())
          .hasSize(levels)
          .doesNotHaveDuplicates();
      assertThat(stages.stream().filter(s -> s.contains("back substitution")).toList())
          .as("one for the levels below the highest, which solves in its task")
          .containsExactly(
              "sparse QR: back substitution, levels %d to 1 of %d".formatted(levels - 1, levels));
      assertThat(fronts).as("each once").hasValue(f.summary().analysis().fronts());
    } finally {
      LocalSpark.context().sc().removeSparkListener(listener);
    }
  }

  /**
   * x that stays with the tasks of several levels in one stage has the bits of x that goes from
   * level to level, as it does where R has to be made again first.
   */
  @Test
  void xIsTheSameLevelByLevel() throws Exception {
    var stages = new CopyOnWriteArrayList<String>();
    var listener = new Stages(stages, new AtomicLong());
    List<double[]> labels =
        Arrays.stream(Problems.rhs(A.rows(), SEED + 2)).mapToObj(v -> new double[] {v}).toList();
    JavaRDD<double[]> other = LocalSpark.context().parallelize(labels, 3);
    LocalSpark.context().sc().addSparkListener(listener);
    try (QRFactorization f = factorization("MEMORY_AND_DISK", ProgressListener.NONE)) {
      int levels = f.summary().analysis().levels();
      String together = "back substitution, levels %d to 1 of %d".formatted(levels, levels);
      double[] x = f.solve(other).x();
      LocalSpark.context().sc().listenerBus().waitUntilEmpty();
      assertThat(stages).anyMatch(s -> s.contains(together));
      stages.clear();
      LocalSpark.context().getPersistentRDDs().values().forEach(r -> r.unpersist(true));
      double[] again = f.solve(other).x();
      LocalSpark.context().sc().listenerBus().waitUntilEmpty();
      assertThat(stages)
          .noneMatch(s -> s.contains(together))
          .anyMatch(s -> s.contains("back substitution, level 1 of " + levels));
      assertThat(again).as("seed %d", SEED).isEqualTo(x);
    } finally {
      LocalSpark.context().sc().removeSparkListener(listener);
    }
  }

  /** The names of the stages that run, and the fronts that their tasks factor. */
  private static final class Stages extends SparkListener {
    private final List<String> names;
    private final AtomicLong fronts;

    Stages(List<String> names, AtomicLong fronts) {
      this.names = names;
      this.fronts = fronts;
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted stage) {
      names.add(stage.stageInfo().name());
    }

    @Override
    public void onStageCompleted(SparkListenerStageCompleted stage) {
      CollectionConverters.asJava(stage.stageInfo().accumulables()).values().stream()
          .filter(a -> a.name().contains("sparqr fronts"))
          .forEach(a -> fronts.accumulateAndGet((Long) a.value().get(), Math::max));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"MEMORY_AND_DISK", "MEMORY_ONLY_SER"})
  void whatTheShuffleLosesThenIsMadeAgain(String storage) throws Exception {
    var stages = new CopyOnWriteArrayList<String>();
    var listener = new Stages(stages, new AtomicLong());
    try (QRFactorization f = factorization(storage, ProgressListener.NONE)) {
      int levels = f.summary().analysis().levels();
      RFactor before = f.collectR();
      double[] x = f.solve().x();
      loseFilesAndTop(levels);
      LocalSpark.context().sc().addSparkListener(listener);
      RFactor after = f.collectR();
      LocalSpark.context().sc().listenerBus().waitUntilEmpty();
      assertThat(stages)
          .anyMatch(s -> s.contains("level %d of %d, ".formatted(levels - 1, levels)));
      assertThat(after.matrix().values()).as("seed %d", SEED).isEqualTo(before.matrix().values());
      assertThat(after.rhs()).isEqualTo(before.rhs());
      assertThat(f.solve().x()).isEqualTo(x);
      assertThat(StoredRdds.of(LocalSpark.context())).noneMatch(i -> i.name().startsWith(BLOCKS));
    } finally {
      nothingIsLeft();
      // After a failed fetch Spark no longer finds this context's blocks: see LostOutputsTest.
      LocalSpark.context().stop();
    }
  }

  /** All shuffle files, and R of the highest level, which is then made from them. */
  private static void loseFilesAndTop(int levels) throws IOException {
    String top = "sparqr R, level %d of".formatted(levels);
    for (RDDInfo info : StoredRdds.levels(LocalSpark.context())) {
      for (int p = 0; p < info.numPartitions() && info.name().startsWith(top); p++) {
        SparkEnv.get().blockManager().removeBlock(new RDDBlockId(info.id(), p), true);
      }
    }
    long lost = 0;
    for (File dir : SparkEnv.get().blockManager().diskBlockManager().localDirs()) {
      lost += SparkFiles.delete(SparkFiles.below(dir.toPath(), "shuffle_"));
    }
    assertThat(lost).isPositive();
  }
}
