/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.error.DiskFullException;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shuffle files on a disk of 1 MB: needs the right to mount one. */
class FullDiskTest {

  private static final long SEED = 41;

  private static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  /** The error of a solve whose shuffles and blocks go to a disk of the given size in KB. */
  private static DiskFullException onADiskOf(int kilobytes, Path folder, int rows, int nonzeros)
      throws IOException, InterruptedException {
    return onADiskOf(kilobytes, folder, rows, nonzeros, Keys.ROW_PATTERNS.name(), "1000000000");
  }

  /** The same with a setting. */
  private static DiskFullException onADiskOf(
      int kilobytes, Path folder, int rows, int nonzeros, String key, String value)
      throws IOException, InterruptedException {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/mount"))
            && run("mount", "-t", "tmpfs", "-o", "size=" + kilobytes + "k", "tmpfs", disk + "")
                == 0,
        "no right to mount");
    try {
      LocalSpark.context().stop();
      CsrMatrix a = Problems.random(rows, 300, nonzeros, SEED);
      try (var context =
          new JavaSparkContext(
              new SparkConf()
                  .setMaster("local[2]")
                  .setAppName("a full disk")
                  .set("spark.ui.enabled", "false")
                  .set("spark.driver.host", "127.0.0.1")
                  .set("spark.driver.bindAddress", "127.0.0.1")
                  .set(key, value)
                  .set("spark.local.dir", disk.toString()))) {
        var rdd = context.parallelize(Problems.rows(a, Problems.rhs(rows, SEED)), 2);
        // the combine would leave few rows
        Throwable e =
            catchThrowable(
                () ->
                    GpuSparseQR.builder()
                        .keepQ(true)
                        .storageLevel(StorageLevel.DISK_ONLY())
                        .factorize(rdd));
        assertThat(e).isInstanceOf(DiskFullException.class);
        assertThat(e.getMessage().lines()).hasSize(1);
        var full = (DiskFullException) e;
        assertThat(full.folder()).startsWith(disk.toString());
        assertThat(full)
            .hasMessageMatching(
                "no space left on device in " + disk + "\\S*: shuffles .* spark.local.dir .*")
            .hasMessageContaining(
                String.format(Locale.ROOT, "%,d bytes", full.neededBytes().orElseThrow()));
        return full;
      }
    } finally {
      run("umount", "-l", disk.toString());
    }
  }

  @Test
  void ofPatternsItIsSaidWhatWasWritten(@TempDir Path folder) throws Exception {
    // patterns that one JVM may not hold for the driver are shuffled, and so on disk
    DiskFullException e = onADiskOf(400, folder, 20_000, 20, Keys.ROW_PATTERNS.name(), "100000");
    assertThat(e).hasMessageContaining("the rows' patterns take more than the ");
    // 0 if both tasks failed at their first bytes
    assertThat(e.neededBytes().orElseThrow()).isBetween(0L, 1L << 20);
  }

  @Test
  void ofRowsTheNeedIsKnown(@TempDir Path folder) throws Exception {
    DiskFullException e = onADiskOf(2048, folder, 12_000, 20);
    long nonzeros = Problems.random(12_000, 300, 20, SEED).nonzeros();
    assertThat(e).hasMessageContaining("the rows on their way to their tasks take up to ");
    assertThat(e.neededBytes()).hasValue(12 * nonzeros + 16L * 12_000);
  }

  /** Spark's folders have room: the folder of the factorization is the full one. */
  @Test
  void ofASavedFactorizationTheTargetIsNamed(@TempDir Path folder) throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/mount"))
            && run("mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk + "") == 0,
        "no right to mount");
    CsrMatrix a = Problems.random(3_000, 800, 8, SEED);
    var rdd = LocalSpark.context().parallelize(Problems.rows(a, Problems.rhs(a.rows(), SEED)), 2);
    try (QRFactorization f = GpuSparseQR.builder().factorize(rdd)) {
      Path target = disk.resolve("saved");
      assertThatThrownBy(() -> f.save(target.toUri().toString()))
          .isInstanceOfSatisfying(
              DiskFullException.class, e -> assertThat(e.folder()).contains(target.toString()))
          .hasMessageMatching(
              "no space left on device in \\S*"
                  + target
                  + "\\S*, where the factorization is saved");
      assertThat(target).as("what was written of it").doesNotExist();
      f.save(folder.resolve("elsewhere").toUri().toString());
    } finally {
      run("umount", "-l", disk.toString());
    }
  }

  /** The task fails in the middle of its fronts, and what it had put into files is freed. */
  @Test
  void rowsOfRThatDoNotFit(@TempDir Path folder) throws IOException, InterruptedException {
    System.setProperty(Keys.FACTOR_MEMORY.name(), "0");
    try {
      Path disk = Files.createDirectory(folder.resolve("disk"));
      assumeTrue(
          Files.isExecutable(Path.of("/usr/bin/mount"))
              && run("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk + "") == 0,
          "no right to mount");
      try {
        LocalSpark.context().stop();
        CsrMatrix a = Problems.random(2_000, 1_500, 20, SEED);
        SparkConf conf =
            new SparkConf()
                .setMaster("local[2]")
                .setAppName("a full disk")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1")
                .set("spark.local.dir", disk.toString());
        try (var context = new JavaSparkContext(conf)) {
          var rdd = context.parallelize(Problems.rows(a, Problems.rhs(a.rows(), SEED)), 2);
          assertThatThrownBy(() -> GpuSparseQR.builder().backend(BackendChoice.CPU).factorize(rdd))
              .isInstanceOf(DiskFullException.class)
              .hasMessageContaining("sparqr.factor.memory")
              .hasMessageContaining(disk.toString());
          assertThat(RowBudget.ofJvm().fileBytes()).isZero();
        }
      } finally {
        run("umount", disk + "");
      }
    } finally {
      System.clearProperty(Keys.FACTOR_MEMORY.name());
    }
  }
}
