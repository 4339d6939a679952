/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import io.sparqr.backend.BackendChoice;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.jdk.javaapi.CollectionConverters;

/** Counts that the stage page and the executors' registries show are those of the report. */
class SubtreeMetricsTest {

  private static final long SEED = Long.getLong("test.seed", 20260104L);
  private static final CsrMatrix A = Problems.grid(40, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  @Test
  @Timeout(60)
  void stagePageAndRegistryAgreeWithTheReport() throws InterruptedException {
    JavaSparkContext context = LocalSpark.context();
    Map<Long, Map.Entry<String, Long>> shown = new ConcurrentHashMap<>();
    var listener =
        new SparkListener() {
          @Override
          public void onStageCompleted(SparkListenerStageCompleted stage) {
            CollectionConverters.asJava(stage.stageInfo().accumulables())
                .forEach(
                    (id, a) -> {
                      if (a.name().isDefined() && a.name().get().startsWith("sparqr")) {
                        long value = ((Number) a.value().get()).longValue();
                        shown.put((Long) id, Map.entry(a.name().get(), value));
                      }
                    });
          }
        };
    MetricRegistry registry = registry();
    Map<String, Long> before = values(registry);
    context.sc().addSparkListener(listener);
    SolveReport report;
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .partitionOptions(new PartitionOptions(2, 4, 3, 0))
            .factorize(context.parallelize(Problems.rows(A, B), 3))) {
      report = f.summary();
      // listeners hear of stages a little later
      while (shown.size() < 5
          || shown.values().stream().noneMatch(e -> e.getValue() == report.analysis().fronts())) {
        Thread.sleep(20);
      }
    } finally {
      context.sc().removeSparkListener(listener);
    }
    Map<String, Long> page = new TreeMap<>();
    shown.values().forEach(e -> page.put(e.getKey(), e.getValue()));
    assertThat(report.analysis().levels()).isGreaterThanOrEqualTo(3);
    assertThat(page)
        .containsEntry("sparqr fronts", (long) report.analysis().fronts())
        .containsEntry("sparqr R bytes", 8 * report.factorization().nnzR())
        .containsEntry("sparqr rows", (long) A.rows())
        .containsKey("sparqr contribution bytes");
    // Each task's flops are rounded.
    assertThat((double) page.get("sparqr flops"))
        .isBetween(
            report.factorization().flopsDone() - 100, report.factorization().flopsDone() + 100);
    Map<String, Long> after = values(registry);
    assertThat(after.get("tasks") - before.get("tasks"))
        .isEqualTo(report.analysis().subtreeTasks());
    Map<String, String> names =
        Map.of(
            "fronts", "sparqr fronts",
            "flops", "sparqr flops",
            "rows", "sparqr rows",
            "rBytes", "sparqr R bytes",
            "contributionBytes", "sparqr contribution bytes");
    names.forEach(
        (name, accumulator) ->
            assertThat(after.get(name) - before.get(name))
                .as(name)
                .isEqualTo(page.get(accumulator))
                .isPositive());
    assertThat(after).containsEntry("deviceBytes", 0L).containsKey("deviceWaitMillis");
  }

  /** Initializes a plugin as Spark does when an executor starts. */
  private static MetricRegistry registry() {
    var registry = new MetricRegistry();
    var plugin = new SparqrPlugin();
    DriverPlugin driver = plugin.driverPlugin();
    var context =
        (PluginContext)
            Proxy.newProxyInstance(
                SubtreeMetricsTest.class.getClassLoader(),
                new Class<?>[] {PluginContext.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "metricRegistry" -> registry;
                      case "executorID" -> "in-this-test";
                      case "conf" -> new SparkConf(false).set("spark.sparqr.warmup", "0");
                      case "resources" -> Map.of();
                      case "send" -> driver.receive(arguments[0]);
                      default -> throw new UnsupportedOperationException(method.getName());
                    });
    plugin.executorPlugin().init(context, Map.of());
    assertThat(DeviceReport.of("in-this-test")).isPresent();
    driver.shutdown();
    assertThat(DeviceReport.of("in-this-test")).isEmpty();
    return registry;
  }

  private static Map<String, Long> values(MetricRegistry registry) {
    Map<String, Long> values = new TreeMap<>();
    registry.getGauges().forEach((name, gauge) -> values.put(name, (Long) gauge.getValue()));
    return values;
  }
}
