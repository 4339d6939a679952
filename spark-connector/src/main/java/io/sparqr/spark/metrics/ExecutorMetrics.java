/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.sparqr.jvm.JvmPart;
import io.sparqr.spark.device.Backends;
import java.util.concurrent.atomic.LongAdder;

/**
 * Totals of the work of subtree tasks in this JVM since its start, over all solves. They are always
 * counted, but published only if {@link SparqrPlugin} is enabled.
 */
final class ExecutorMetrics {

  private static final JvmPart<ExecutorMetrics> OF_JVM =
      JvmPart.of("totals of tasks", ExecutorMetrics::new);

  private final LongAdder tasks = new LongAdder();
  private final LongAdder fronts = new LongAdder();
  private final LongAdder flops = new LongAdder();
  private final LongAdder rows = new LongAdder();
  private final LongAdder rBytes = new LongAdder();
  private final LongAdder contributionBytes = new LongAdder();
  private final LongAdder deviceWaitNanos = new LongAdder();

  private ExecutorMetrics() {}

  /** The totals of this JVM. */
  static ExecutorMetrics ofJvm() {
    return OF_JVM.get();
  }

  void arrived(long rows) {
    this.rows.add(rows);
  }

  void factored(long fronts, long flops, long rBytes, long contributionBytes) {
    tasks.increment();
    this.fronts.add(fronts);
    this.flops.add(flops);
    this.rBytes.add(rBytes);
    this.contributionBytes.add(contributionBytes);
  }

  void waited(long nanos) {
    deviceWaitNanos.add(nanos);
  }

  void register(MetricRegistry registry) {
    gauge(registry, "tasks", tasks::sum);
    gauge(registry, "fronts", fronts::sum);
    gauge(registry, "flops", flops::sum);
    gauge(registry, "rows", rows::sum);
    gauge(registry, "rBytes", rBytes::sum);
    gauge(registry, "contributionBytes", contributionBytes::sum);
    gauge(registry, "deviceWaitMillis", () -> deviceWaitNanos.sum() / 1_000_000);
    gauge(registry, "deviceBytes", Backends::deviceBytesInUse);
  }

  private static void gauge(MetricRegistry registry, String name, Gauge<Long> gauge) {
    registry.register(name, gauge);
  }
}
