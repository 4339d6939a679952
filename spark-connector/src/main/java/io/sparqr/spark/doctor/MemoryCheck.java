/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;

/**
 * The heap beside the memory of machine or container; R and native buffers are outside the heap.
 */
final class MemoryCheck implements HostCheck {

  /** Spark's own least overhead of an executor. */
  static final long LEAST_OUTSIDE = 384L << 20;

  /** A smaller heap holds Spark and little else. */
  static final long LEAST_HEAP = 900L << 20;

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    judge(Runtime.getRuntime().maxMemory(), machine(), findings);
  }

  static void judge(long heap, OptionalLong machine, Findings findings) {
    if (machine.isPresent() && machine.getAsLong() - heap < LEAST_OUTSIDE) {
      findings.warning(
          "a smaller heap (spark.driver.memory, spark.executor.memory, -Xmx), or a larger container",
          "a heap of %,d MB in a machine or container of %,d MB leaves too little for R, which is"
              + " outside the heap",
          heap >> 20,
          machine.getAsLong() >> 20);
    } else if (heap < LEAST_HEAP) {
      findings.warning(
          "spark.driver.memory=4g, spark.executor.memory=4g", "a heap of %,d MB", heap >> 20);
    } else {
      findings.ok(
          "a heap of %,d MB%s",
          heap >> 20, machine.isPresent() ? " of %,d MB".formatted(machine.getAsLong() >> 20) : "");
    }
  }

  /** Bytes of the machine, or of the control group if that has fewer; Linux only. */
  private static OptionalLong machine() {
    long least = Long.MAX_VALUE;
    for (String file :
        new String[] {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      least = Math.min(least, number(Path.of(file), "", 1));
    }
    least = Math.min(least, number(Path.of("/proc/meminfo"), "MemTotal:", 1024));
    return least == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(least);
  }

  private static long number(Path file, String key, long unit) {
    try {
      for (String line : Files.readAllLines(file)) {
        String digits = line.replaceAll("\\D", "");
        if (line.startsWith(key) && !digits.isEmpty() && digits.length() < 16) {
          return unit * Long.parseLong(digits);
        }
      }
    } catch (IOException e) {
      // not this kind of system
    }
    return Long.MAX_VALUE;
  }
}
