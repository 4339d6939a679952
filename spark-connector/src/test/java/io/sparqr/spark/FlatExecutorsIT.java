/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import io.sparqr.Sampled;
import io.sparqr.Sampling;
import io.sparqr.backend.BackendChoice;
import io.sparqr.spark.internals.StoredBlocks;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Solves and closed factorizations of 50,000 columns leave nothing on an executor: 300 of them at
 * night, in the gate a tenth.
 */
@Sampled(oneIn = 8)
@Timeout(value = 1500, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FlatExecutorsIT {

  private static final int COLUMNS = 50_000;
  private static final int SOLVES = Sampling.numbers("soak.solves", 300).toArray().length;

  /** After those the executor has what it keeps: classes, compiled code, pools. */
  private static final int WARM = 8;

  /** Much less than the plans of the solves, 25 bytes a column each. */
  private static final long HEAP_ROOM = 8L << 20;

  /** For the heap that grows to its limit, and for malloc. */
  private static final long RESIDENT_ROOM = 600L << 20;

  /**
   * What a JVM holds.
   *
   * @param heap bytes that are reachable, softly too
   * @param resident bytes of the process in memory
   * @param descriptors open files
   * @param files below the folders of Spark
   * @param blocks that Spark stores in memory or on disk
   */
  private record Held(
      long heap, long resident, int threads, long descriptors, long files, long blocks)
      implements java.io.Serializable {

    static Held here() {
      long heap = Long.MAX_VALUE;
      try {
        for (int k = 0; k < 4; k++) {
          System.gc();
          Thread.sleep(100);
          Runtime r = Runtime.getRuntime();
          heap = Math.min(heap, r.totalMemory() - r.freeMemory());
        }
        var os = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new Held(
            heap,
            residentBytes(),
            ManagementFactory.getThreadMXBean().getThreadCount(),
            os.getOpenFileDescriptorCount(),
            filesOfSpark(),
            StoredBlocks.heapBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private static long residentBytes() throws IOException {
      try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
        return lines
            .filter(l -> l.startsWith("VmRSS:"))
            .mapToLong(l -> 1024 * Long.parseLong(l.replaceAll("[^0-9]", "")))
            .findFirst()
            .orElse(0);
      }
    }

    private static long filesOfSpark() throws IOException {
      long files = 0;
      for (var folder : SparkEnv.get().blockManager().diskBlockManager().localDirs()) {
        files += SparkFiles.below(folder.toPath(), "").size();
      }
      return files;
    }
  }

  private static Held afterCleaning(JavaSparkContext context) throws InterruptedException {
    // Spark deletes shuffle files when the driver's garbage collector has seen that they are not
    // needed any more.
    System.gc();
    Thread.sleep(2000);
    return context.parallelize(List.of(1), 1).map(i -> Held.here()).collect().get(0);
  }

  /** Each column in four rows, two of which have its neighbours. */
  private static JavaRDD<SparseRow> rows(JavaSparkContext context) {
    return context
        .parallelize(IntStream.range(0, 4).boxed().toList(), 4)
        .flatMap(
            p -> {
              var rows = new ArrayList<SparseRow>();
              for (int j = p * COLUMNS / 4; j < (p + 1) * COLUMNS / 4; j++) {
                for (int step = 1; step <= 2; step++) {
                  int other = (j + step) % COLUMNS;
                  rows.add(new SparseRow(new int[] {j, other}, new double[] {2, -1}, j % 7));
                }
              }
              return rows.iterator();
            });
  }

  @Test
  void nothingGrowsOnAnExecutor() throws IOException, InterruptedException {
    var conf =
        LocalCluster.conf("sparqr flat executors", 1, 2)
            .set("spark.executor.memory", "1000m")
            .set("spark.ui.retainedJobs", "10")
            .set("spark.ui.retainedStages", "10");
    try (JavaSparkContext context = LocalCluster.start(conf, 1)) {
      JavaRDD<SparseRow> rows = rows(context).cache();
      Held before = null;
      for (int k = 0; k < SOLVES; k++) {
        if (k == WARM) {
          before = afterCleaning(context);
        }
        try (QRFactorization f = GpuSparseQR.builder().backend(BackendChoice.CPU).factorize(rows)) {
          f.solve();
        }
      }
      Held after = afterCleaning(context);
      String seen = before + ", then " + after;
      assertThat(context.getPersistentRDDs()).as("the rows alone").hasSize(1);
      assertThat(after.heap).as(seen).isLessThan(before.heap + HEAP_ROOM);
      assertThat(after.resident).as(seen).isLessThan(before.resident + RESIDENT_ROOM);
      assertThat(after.threads).as(seen).isLessThan(before.threads + 8);
      assertThat(after.descriptors).as(seen).isLessThan(before.descriptors + 16);
      assertThat(after.files).as(seen).isLessThan(before.files + 8);
      assertThat(after.blocks).as(seen).isLessThan(before.blocks + HEAP_ROOM);
    }
  }
}
