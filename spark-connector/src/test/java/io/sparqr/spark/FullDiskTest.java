/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.error.DiskFullException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
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

  @Test
  void aFullDiskIsNamedByItsFolder(@TempDir Path folder) throws IOException, InterruptedException {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/mount"))
            && run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk.toString()) == 0,
        "no right to mount");
    try {
      LocalSpark.context().stop();
      CsrMatrix a = Problems.random(12_000, 300, 20, SEED);
      try (var context =
          new JavaSparkContext(
              new SparkConf()
                  .setMaster("local[2]")
                  .setAppName("a full disk")
                  .set("spark.ui.enabled", "false")
                  .set("spark.driver.host", "127.0.0.1")
                  .set("spark.driver.bindAddress", "127.0.0.1")
                  .set("spark.local.dir", disk.toString()))) {
        var rows = context.parallelize(Problems.rows(a, Problems.rhs(12_000, SEED)), 2);
        Throwable e = catchThrowable(() -> GpuSparseQR.solve(rows));
        assertThat(e)
            .isInstanceOf(DiskFullException.class)
            .hasMessageMatching(
                "no space left on device in " + disk + "\\S*: shuffles .* spark.local.dir .*");
        assertThat(((DiskFullException) e).folder()).startsWith(disk.toString());
      }
    } finally {
      run("umount", "-l", disk.toString());
    }
  }
}
