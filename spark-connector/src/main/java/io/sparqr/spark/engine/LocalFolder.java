/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import java.nio.file.Path;
import org.apache.spark.SparkEnv;

/** The folder for temporary files of this JVM's tasks. */
public final class LocalFolder {

  private LocalFolder() {}

  /** The first of Spark's local folders, or {@code java.io.tmpdir} without Spark. */
  public static Path path() {
    SparkEnv env = SparkEnv.get();
    return Path.of(
        env == null
            ? System.getProperty("java.io.tmpdir")
            : env.blockManager().diskBlockManager().localDirsString()[0]);
  }
}
