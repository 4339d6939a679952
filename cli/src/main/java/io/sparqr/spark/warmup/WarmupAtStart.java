/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.metrics.AtStart;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** Starts a warm-up with the plugin, on the driver and on each executor. */
public final class WarmupAtStart implements AtStart {

  @Override
  public void driver(JavaSparkContext context) {
    Warmup.begin(context);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A device is only warmed up if tasks are sure to use the first one visible to this JVM.
   */
  @Override
  public void executor(SparkConf settings, boolean gpu) {
    DeviceReport here = DeviceReport.ofThisJvm("");
    boolean first = here.free() || gpu && here.devices().size() == 1;
    Warmup.begin(name -> settings.get(name, null), first, Optional.empty());
  }

  @Override
  public void end() {
    Warmup.end();
    Backends.keepOpen(false);
  }
}
