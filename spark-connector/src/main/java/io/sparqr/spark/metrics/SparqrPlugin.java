/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Puts each executor's counts into Spark's metrics system, for whatever sinks it has (JMX,
 * Prometheus, CSV): {@code spark.plugins=io.sparqr.spark.metrics.SparqrPlugin}. The names there are
 * {@code <application>.<executor>.plugin.io.sparqr.spark.metrics.SparqrPlugin.fronts}, ...
 */
public final class SparqrPlugin implements SparkPlugin {

  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorPlugin() {
      @Override
      public void init(PluginContext context, Map<String, String> configuration) {
        ExecutorMetrics.register(context.metricRegistry());
      }
    };
  }
}
