/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import java.util.List;
import java.util.function.Function;

/** What should be the same in all JVMs, and is compared on the driver. */
final class Comparison {

  /** Clocks that differ by more make logs and tokens of a cluster useless. */
  static final long CLOCK_MILLIS = 60_000;

  private Comparison() {}

  /**
   * Compares.
   *
   * @param driver its exam
   * @param executors theirs
   * @param begin the driver's clock before the executors were asked
   * @param end and after the last answer
   */
  static void look(
      HostExam driver, List<HostExam> executors, long begin, long end, Findings findings) {
    if (executors.isEmpty()) {
      return;
    }
    if (alike("BLAS", executors, HostExam::blas, findings)
        & alike("processors", executors, HostExam::processor, findings)) {
      findings.ok("%d executor(s) with the same BLAS and processors", executors.size());
    }
    for (HostExam e : executors) {
      long off = Math.max(begin - e.millis(), e.millis() - end);
      if (off > CLOCK_MILLIS) {
        findings.warning(
            "synchronize the clocks (chronyc tracking says how far)",
            "the clock of %s is %,d s off the driver's",
            e.where(),
            off / 1000);
      }
      String here = minor(driver.python());
      String there = minor(e.python());
      if (!here.isEmpty() && !there.isEmpty() && !here.equals(there)) {
        findings.warning(
            "PYSPARK_PYTHON=/path/to/python" + here,
            "Python %s on the driver, %s on %s: PySpark's functions would be refused",
            driver.python(),
            e.python(),
            e.where());
      }
    }
  }

  private static boolean alike(
      String what, List<HostExam> executors, Function<HostExam, String> fact, Findings findings) {
    List<String> all = executors.stream().map(fact).distinct().sorted().toList();
    if (all.size() == 1) {
      return true;
    }
    findings.warning(
        "machines of one type; or OPENBLAS_CORETYPE=Haswell in spark.executorEnv, the same for all",
        "executors with different %s (%s): bits of the result then depend on who gets which task",
        what,
        String.join("; ", all));
    return false;
  }

  private static String minor(String version) {
    String[] part = version.split("\\.");
    return part.length < 2 ? "" : part[0] + "." + part[1];
  }
}
