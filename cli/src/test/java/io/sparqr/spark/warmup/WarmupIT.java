/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import io.sparqr.Sampled;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalCluster;
import io.sparqr.spark.Problems;
import io.sparqr.spark.metrics.SparqrPlugin;
import io.sparqr.sparse.CsrMatrix;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.jdk.javaapi.CollectionConverters;

/** The warm-up of a driver and of executors in JVMs of their own, started by the plugin. */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Sampled(oneIn = 4)
class WarmupIT {

  private static final double LONGEST = 60;
  private static final CsrMatrix A = Gallery.generate("gen:cells2d20");

  private static JavaSparkContext start(String seconds) throws Exception {
    return LocalCluster.start(
        LocalCluster.conf("sparqr warm-up tests", 2, 1)
            .set("spark.plugins", SparqrPlugin.class.getName())
            .set("spark.sparqr.warmup", seconds),
        2);
  }

  /** One line per task: the executor, its solves, how its warm-up ended, the fronts counted. */
  private static List<String> onExecutors(JavaSparkContext context) {
    return context
        .parallelize(List.of(0, 1, 2, 3), 4)
        .map(i -> SparkEnv.get().executorId() + " " + here())
        .distinct()
        .collect();
  }

  private static String here() throws InterruptedException {
    Thread.sleep(200); // so that both executors get tasks
    Optional<Warmup> last = Warmup.last();
    if (last.isEmpty()) {
      return "none";
    }
    boolean ended = last.get().await(LONGEST);
    String source = "plugin." + SparqrPlugin.class.getName();
    Gauge<?> fronts =
        CollectionConverters.asJava(SparkEnv.get().metricsSystem().getSourcesByName(source))
            .get(0)
            .metricRegistry()
            .getGauges()
            .get("fronts");
    Warmup.Outcome o = last.get().outcome();
    return ended && o.solves() > 0 && !o.end().equals("failed")
        ? "warm, fronts counted: " + fronts.getValue()
        : o.toString();
  }

  @Test
  void driverAndExecutorsWarmUp() throws Exception {
    Optional<Warmup> before = Warmup.last();
    try (JavaSparkContext context = start("20")) {
      assertThat(onExecutors(context))
          .containsExactlyInAnyOrder("0 warm, fronts counted: 0", "1 warm, fronts counted: 0");
      Warmup driver = Warmup.last().orElseThrow();
      assertThat(driver).isNotSameAs(before.orElse(null));
      assertThat(driver.await(LONGEST)).isTrue();
      assertThat(driver.outcome().solves()).as(driver.outcome().end()).isPositive();
      assertThat(context.getPersistentRDDs()).isEmpty();
      double[] b = DefaultRightHandSide.of(A);
      assertThat(GpuSparseQR.solve(context.parallelize(Problems.rows(A, b), 2)).x())
          .hasSize(A.columns());
    }
  }

  /** What {@link FirstSolveOfAJvm} prints in a JVM of its own, on four processors. */
  private static List<String> inItsOwnJvm(String plugins) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(a -> a.startsWith("--add-"))
            .toList());
    command.addAll(List.of("-Xmx1g", "-XX:ActiveProcessorCount=4"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(FirstSolveOfAJvm.class.getName(), plugins));
    Process jvm =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String told = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(jvm.waitFor()).as(told).isZero();
    return told.lines().toList();
  }

  /** No thread of ours is there before a user asks for work, unless the plugin is configured. */
  @Test
  void onlyThePluginStartsIt() throws Exception {
    List<String> without = inItsOwnJvm("");
    List<String> with = inItsOwnJvm(SparqrPlugin.class.getName());
    assertThat(without).startsWith("threads before []", "warm-up none");
    assertThat(with.get(0)).startsWith("threads before [").contains("sparqr-warmup");
    assertThat(with.get(1))
        .isIn("warm-up a solve began", "warm-up hardly anything left to compile");
    assertThat(with.subList(2, 4)).isEqualTo(without.subList(2, 4));
    assertThat(without.get(3)).isEqualTo("threads after []");
  }

  @Test
  void noneIfSwitchedOff() throws Exception {
    Optional<Warmup> before = Warmup.last();
    try (JavaSparkContext context = start("0")) {
      assertThat(onExecutors(context)).containsExactlyInAnyOrder("0 none", "1 none");
      assertThat(Warmup.last()).isEqualTo(before);
    }
  }
}
