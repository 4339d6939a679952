/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.sparqr.spark.device.Backends;
import java.util.concurrent.atomic.LongAdder;

/**
 * Totals of the work of subtree tasks in this JVM since its start, over all solves. They are always
 * counted, but published only if {@link SparqrPlugin} is enabled.
 */
final class ExecutorMetrics {

  private static final LongAdder TASKS = new LongAdder();
  private static final LongAdder FRONTS = new LongAdder();
  private static final LongAdder FLOPS = new LongAdder();
  private static final LongAdder ROWS = new LongAdder();
  private static final LongAdder R_BYTES = new LongAdder();
  private static final LongAdder CONTRIBUTION_BYTES = new LongAdder();
  private static final LongAdder DEVICE_WAIT_NANOS = new LongAdder();

  private ExecutorMetrics() {}

  static void arrived(long rows) {
    ROWS.add(rows);
  }

  static void factored(long fronts, long flops, long rBytes, long contributionBytes) {
    TASKS.increment();
    FRONTS.add(fronts);
    FLOPS.add(flops);
    R_BYTES.add(rBytes);
    CONTRIBUTION_BYTES.add(contributionBytes);
  }

  static void waited(long nanos) {
    DEVICE_WAIT_NANOS.add(nanos);
  }

  static void register(MetricRegistry registry) {
    gauge(registry, "tasks", TASKS::sum);
    gauge(registry, "fronts", FRONTS::sum);
    gauge(registry, "flops", FLOPS::sum);
    gauge(registry, "rows", ROWS::sum);
    gauge(registry, "rBytes", R_BYTES::sum);
    gauge(registry, "contributionBytes", CONTRIBUTION_BYTES::sum);
    gauge(registry, "deviceWaitMillis", () -> DEVICE_WAIT_NANOS.sum() / 1_000_000);
    gauge(registry, "deviceBytes", Backends::deviceBytesInUse);
  }

  private static void gauge(MetricRegistry registry, String name, Gauge<Long> gauge) {
    registry.register(name, gauge);
  }
}
