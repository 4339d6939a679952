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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Contribution blocks are stored until they are written to the shuffle, and no longer; where a file
 * of the shuffle is lost after that, they are made again.
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

  /** Read from the store itself, because a listener of ours must not wait for Spark's. */
  private static long bytesHere(JavaRDD<?> rdd) {
    long bytes = 0;
    for (int p = 0; p < rdd.getNumPartitions(); p++) {
      var status = SparkEnv.get().blockManager().getStatus(new RDDBlockId(rdd.id(), p));
      bytes += status.isEmpty() ? 0 : status.get().memSize() + status.get().diskSize();
    }
    return bytes;
  }

  /** When a level is about to begin: the bytes of all blocks that are stored. */
  private static final class Watch implements ProgressListener {
    private final Set<String> seen = ConcurrentHashMap.newKeySet();
    private final Map<String, Long> blocks = new TreeMap<>();

    @Override
    public void update(Progress p) {
      if (p.phase().equals("factorize")
          && p.detail().startsWith("level ")
          && seen.add(p.detail())) {
        for (JavaRDD<?> rdd : LocalSpark.context().getPersistentRDDs().values()) {
          if (rdd.name().startsWith(BLOCKS)) {
            blocks.put(p.detail().substring(0, 7) + ": " + rdd.name(), bytesHere(rdd));
          }
        }
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
      // before each level but the first, the blocks of the one below and no others
      assertThat(watch.blocks).as("seed %d", SEED).hasSize(levels - 1);
      for (int l = 2; l <= levels; l++) {
        assertThat(watch.blocks)
            .hasEntrySatisfying(
                "level %d: %slevel %d of %d, on their way".formatted(l, BLOCKS, l - 1, levels),
                stored -> assertThat(stored).isPositive());
      }
      List<RDDInfo> stored = StoredRdds.of(LocalSpark.context());
      assertThat(stored).noneMatch(i -> i.name().startsWith(BLOCKS));
      if (storage.equals("MEMORY_ONLY_SER")) {
        requireFramesOfRAlone(watch.blocks.values().stream().mapToLong(b -> b).sum());
      }
    }
  }

  /**
   * The bytes of the levels are those of reports and rows of R, and Java's few for each frame.
   *
   * @param sent bytes of all blocks
   */
  @SuppressWarnings("unchecked")
  private static void requireFramesOfRAlone(long sent) {
    long frames = 0;
    long own = 0;
    for (JavaRDD<?> level : LocalSpark.context().getPersistentRDDs().values()) {
      for (byte[] frame : ((JavaRDD<byte[]>) level).collect()) {
        assertThat(Frame.kind(frame)).isIn(Frame.Kind.TASK, Frame.Kind.FACTOR);
        frames++;
        own += frame.length;
      }
    }
    long most = own + 64 * frames;
    assertThat(most).as("could be told from R with blocks").isLessThan(own + sent);
    long stored =
        StoredRdds.levels(LocalSpark.context()).stream().mapToLong(i -> i.memSize()).sum();
    assertThat(stored).isBetween(own, most);
  }

  @ParameterizedTest
  @ValueSource(strings = {"MEMORY_AND_DISK", "MEMORY_ONLY_SER"})
  void whatTheShuffleLosesThenIsMadeAgain(String storage) throws Exception {
    var stages = new CopyOnWriteArrayList<String>();
    var listener =
        new SparkListener() {
          @Override
          public void onStageSubmitted(SparkListenerStageSubmitted stage) {
            stages.add(stage.stageInfo().name());
          }
        };
    try (QRFactorization f = factorization(storage, ProgressListener.NONE)) {
      int levels = f.summary().analysis().levels();
      RFactor before = f.collectR();
      double[] x = f.solve().x();
      loseFilesAndTop(levels);
      LocalSpark.context().sc().addSparkListener(listener);
      RFactor after = f.collectR();
      LocalSpark.context().sc().listenerBus().waitUntilEmpty();
      assertThat(stages)
          .anyMatch(s -> s.contains("level %d of %d, contribution".formatted(levels - 1, levels)));
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
