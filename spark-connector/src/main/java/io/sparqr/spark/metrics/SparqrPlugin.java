/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.spark.resource.DeviceReport;
import java.io.IOException;
import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.slf4j.LoggerFactory;

/**
 * Sparqr's plugin for Spark, loaded when executors start: {@code
 * spark.plugins=io.sparqr.spark.metrics.SparqrPlugin}.
 *
 * <p>It publishes each executor's counts in Spark's metrics system, for any of its sinks (JMX,
 * Prometheus, CSV), as {@code
 * <application>.<executor>.plugin.io.sparqr.spark.metrics.SparqrPlugin.fronts}, ... Each executor
 * also reports its GPUs to the driver, for the cut of the tree ({@link DeviceReport}).
 */
public final class SparqrPlugin implements SparkPlugin {

  @Override
  public DriverPlugin driverPlugin() {
    return new DriverPlugin() {
      @Override
      public Object receive(Object message) {
        if (message instanceof DeviceReport report) {
          DeviceReport.received(report);
        }
        return null;
      }

      @Override
      public void shutdown() {
        DeviceReport.forgetAll();
      }
    };
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorPlugin() {
      @Override
      public void init(PluginContext context, Map<String, String> configuration) {
        ExecutorMetrics.register(context.metricRegistry());
        try {
          context.send(DeviceReport.ofThisJvm(context.executorID()));
        } catch (IOException e) {
          LoggerFactory.getLogger(SparqrPlugin.class).warn("the driver does not hear of GPUs", e);
        }
      }
    };
  }
}
