/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import io.sparqr.spark.internals.SparkProcess;
import java.nio.file.Path;

/** The folder for temporary files of this JVM's tasks. */
public final class LocalFolder {

  private LocalFolder() {}

  /** The first of Spark's local folders, or {@code java.io.tmpdir} without Spark. */
  public static Path path() {
    return Path.of(
        SparkProcess.localFolders().stream()
            .findFirst()
            .orElseGet(() -> System.getProperty("java.io.tmpdir")));
  }
}
