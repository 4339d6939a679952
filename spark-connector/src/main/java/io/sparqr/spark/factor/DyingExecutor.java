/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.internals.SparkProcess;
import java.util.function.IntConsumer;
import org.slf4j.LoggerFactory;

/** Ends an executor with an unreliable device, so that Spark replaces it. */
public final class DyingExecutor {

  private static final int EXIT_CODE = 20;

  private static final String DRIVER = "driver";

  private DyingExecutor() {}

  /**
   * Ends the executor after a short delay, so that the task's failure can reach the driver; never
   * ends the driver.
   */
  public static void leave(RuntimeException why) {
    leave(why, SparkProcess.executor().orElse(DRIVER), Runtime.getRuntime()::halt);
  }

  /** As above, for a given executor id; {@code exit} ends the JVM. */
  static void leave(RuntimeException why, String executor, IntConsumer exit) {
    if (executor.equals(DRIVER)) {
      return;
    }
    LoggerFactory.getLogger(DyingExecutor.class)
        .error("the device is lost: this executor ends", why);
    var thread =
        new Thread(
            () -> {
              try {
                Thread.sleep(500);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              exit.accept(EXIT_CODE);
            },
            "sparqr-executor-exit");
    thread.setDaemon(true);
    thread.start();
  }
}
