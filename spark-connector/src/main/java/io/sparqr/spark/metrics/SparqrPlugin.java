/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.spark.device.DeviceReport;
import java.io.IOException;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Sparqr's plugin for Spark, loaded when executors start: {@code
 * spark.plugins=io.sparqr.spark.metrics.SparqrPlugin}.
 *
 * <p>It publishes each executor's counts in Spark's metrics system, for any of its sinks (JMX,
 * Prometheus, CSV), as {@code
 * <application>.<executor>.plugin.io.sparqr.spark.metrics.SparqrPlugin.fronts}, ... Each executor
 * also reports its GPUs to the driver, for the cut of the tree ({@link DeviceReport}). Driver and
 * executors warm up in the background ({@link AtStart}, {@code spark.sparqr.warmup}).
 */
public final class SparqrPlugin implements SparkPlugin {

  /** The id of an executor that shares the driver's JVM. */
  private static final String DRIVER = "driver";

  @Override
  public DriverPlugin driverPlugin() {
    return new DriverPlugin() {
      @SuppressWarnings("NullAway.Init") // set by init
      private JavaSparkContext driver;

      @Override
      public Map<String, String> init(SparkContext context, PluginContext plugin) {
        driver = JavaSparkContext.fromSparkContext(context);
        return Map.of();
      }

      /** The end of the context's start: an executor of this JVM is there. */
      @Override
      public void registerMetrics(String application, PluginContext plugin) {
        AtStart.tell(a -> a.driver(driver));
      }

      @Override
      public @Nullable Object receive(Object message) {
        if (message instanceof DeviceReport report) {
          DeviceReport.received(report);
        }
        return null;
      }

      @Override
      public void shutdown() {
        DeviceReport.forgetAll();
        AtStart.tell(AtStart::end);
      }
    };
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorPlugin() {
      @Override
      public void init(PluginContext context, Map<String, String> configuration) {
        ExecutorMetrics.ofJvm().register(context.metricRegistry());
        try {
          context.send(DeviceReport.ofThisJvm(context.executorID()));
        } catch (IOException e) {
          LoggerFactory.getLogger(SparqrPlugin.class).warn("the driver does not hear of GPUs", e);
        }
        if (!DRIVER.equals(context.executorID())) {
          AtStart.tell(a -> a.executor(context.conf(), context.resources().containsKey("gpu")));
        }
      }

      @Override
      public void shutdown() {
        AtStart.tell(AtStart::end);
      }
    };
  }
}
