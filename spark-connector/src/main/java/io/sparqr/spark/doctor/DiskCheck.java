/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.spark.internals.SparkProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;

/** Free space where Spark writes shuffles, rows and R. */
final class DiskCheck implements HostCheck {

  /** A disk with less fails at once. */
  static final long LEAST = 1L << 30;

  /** Less than this is soon full: R of 50,000 columns is 10 GB when it is full. */
  static final long SCARCE = 10L << 30;

  @Override
  public String name() {
    return "disk";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    for (Path folder : folders(conf)) {
      Path there = folder.toAbsolutePath();
      while (there.getParent() != null && !Files.exists(there)) {
        there = there.getParent();
      }
      try {
        long free = Files.getFileStore(there).getUsableSpace();
        judge(folder, Files.isWritable(there), free, findings);
      } catch (IOException e) {
        findings.error(remedy(), "%s: %s", folder, e);
      }
    }
  }

  static void judge(Path folder, boolean writable, long free, Findings findings) {
    if (!writable) {
      findings.error(remedy(), "%s cannot be written to", folder);
    } else if (free < LEAST) {
      findings.error(remedy(), "%s has %,d MB free", folder, free >> 20);
    } else if (free < SCARCE) {
      findings.warning(remedy(), "%s has %,d MB free", folder, free >> 20);
    } else {
      findings.ok("%s has %,d GB free", folder, free >> 30);
    }
  }

  private static String remedy() {
    return "spark.local.dir=FOLDER on a disk with room; on YARN yarn.nodemanager.local-dirs";
  }

  /** Those of this JVM; without Spark, those that it would take. */
  private static List<Path> folders(SparkConf conf) {
    var list = new ArrayList<Path>();
    for (String folder : SparkProcess.localFolders()) {
      list.add(Path.of(folder));
    }
    if (!list.isEmpty()) {
      return list;
    }
    String all = System.getenv("SPARK_LOCAL_DIRS");
    if (all == null || all.isBlank()) {
      all = conf.get("spark.local.dir", System.getProperty("java.io.tmpdir"));
    }
    for (String one : all.split(",")) {
      list.add(Path.of(one.strip()));
    }
    return list;
  }
}
