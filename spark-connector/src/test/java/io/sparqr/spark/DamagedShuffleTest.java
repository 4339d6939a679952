/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.sparse.CsrMatrix;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bytes of shuffle files change when the second level is about to begin. Without compression Spark
 * notices nothing; the map tasks are run again all the same, and the answer has the same bits.
 */
class DamagedShuffleTest {

  private static final long SEED = Long.getLong("test.seed", 20261128L);
  private static final CsrMatrix A = Problems.grid(16, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  /** Rows that were read; tasks run in this JVM. */
  private static final AtomicInteger READ = new AtomicInteger();

  @ParameterizedTest
  @ValueSource(strings = {"JavaSerializer", "KryoSerializer"})
  void aDamagedBlockIsComputedAgain(String serializer) {
    LocalSpark.context().stop();
    for (int k = 0; k < 2; k++) {
      READ.set(0);
      var conf =
          new SparkConf()
              .setMaster("local[2]")
              .setAppName("damaged shuffles")
              .set("spark.ui.enabled", "false")
              .set("spark.driver.host", "127.0.0.1")
              .set("spark.driver.bindAddress", "127.0.0.1")
              .set("spark.shuffle.compress", "false")
              .set("spark.serializer", "org.apache.spark.serializer." + serializer);
      // After a failed fetch a local master forgets its only block manager: a context for each.
      try (var context = new JavaSparkContext(conf)) {
        double[] x = kept(context, p -> {});
        int read = READ.get();
        var damage = new Damage(SEED + k);
        assertThat(kept(context, damage)).as("seed %d", SEED + k).isEqualTo(x);
        assertThat(damage.changed).hasPositiveValue();
        assertThat(READ.get() - read).as("rows, with those read again").isGreaterThan(read);
      }
    }
  }

  /** x by way of a factorization that keeps R: only its rows are shuffled with a local master. */
  private static double[] kept(JavaSparkContext context, ProgressListener listener) {
    try (QRFactorization f =
        GpuSparseQR.builder()
            .ordering(OrderingMethod.NESTED_DISSECTION)
            .partitionOptions(new PartitionOptions(2, 4, 3, 0))
            .listener(listener)
            .factorize(context.parallelize(Problems.rows(A, B), 3).map(DamagedShuffleTest::read))) {
      return f.solve().x();
    }
  }

  private static SparseRow read(SparseRow row) {
    READ.incrementAndGet();
    return row;
  }

  /** Changes bytes all over every shuffle file, once. */
  private static final class Damage implements ProgressListener {
    /** Bytes from one change to the next, about. */
    private static final int APART = 300;

    private final Random random;
    private final AtomicInteger changed = new AtomicInteger();

    Damage(long seed) {
      random = new Random(seed);
    }

    @Override
    public void update(Progress p) {
      if (!p.detail().startsWith("level 2") || changed.get() > 0) {
        return;
      }
      try {
        for (File dir : SparkEnv.get().blockManager().diskBlockManager().localDirs()) {
          for (Path file : SparkFiles.below(dir.toPath(), "shuffle_")) {
            if (file.toString().endsWith(".data")) {
              change(file);
            }
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void change(Path file) throws IOException {
      try (var in = new RandomAccessFile(file.toFile(), "rw")) {
        for (long at = random.nextInt(APART);
            at < in.length();
            at += 1 + random.nextInt(2 * APART)) {
          in.seek(at);
          int b = in.read();
          in.seek(at);
          in.write(b ^ 1 << random.nextInt(8));
          changed.incrementAndGet();
        }
      }
    }
  }
}
