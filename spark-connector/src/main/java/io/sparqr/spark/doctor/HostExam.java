/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.configuration.Mounts;
import io.sparqr.numeric.dense.BlasLoader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;

/**
 * All checks of one JVM, and what is compared with the others.
 *
 * @param blas its description
 * @param processor the model of its cores; empty where it is not known
 * @param python its version; empty where there is none
 * @param millis its clock
 */
record HostExam(
    String where,
    List<Finding> findings,
    String blas,
    String processor,
    String python,
    long millis) {

  /** Fields before the findings. */
  private static final int FACTS = 5;

  /**
   * Looks at this JVM.
   *
   * @param where as in findings
   * @param driver whether it is the driver
   */
  static HostExam here(SparkConf conf, String where, boolean driver) {
    long millis = System.currentTimeMillis();
    var list = new ArrayList<Finding>();
    for (HostCheck check : checks(driver)) {
      list.addAll(run(check, conf, where));
    }
    return new HostExam(
        where,
        list,
        BlasLoader.kernels().description(),
        modelOfCores(),
        PythonCheck.version(PythonCheck.command(conf, driver)).orElse(""),
        millis);
  }

  private static List<HostCheck> checks(boolean driver) {
    return List.of(
        new VersionCheck(),
        new NativeCheck(),
        new FolderCheck(Mounts.ofThisProcess()),
        new BlasCheck(),
        new CudaCheck(),
        new MemoryCheck(),
        new DiskCheck(),
        new PythonCheck(driver),
        new SettingsCheck(driver));
  }

  /** A check that fails is a finding, too. */
  static List<Finding> run(HostCheck check, SparkConf conf, String where) {
    var findings = new Findings(check.name(), where);
    try {
      check.look(conf, findings);
    } catch (RuntimeException | LinkageError e) {
      findings.error("report it with this line", "the check itself failed: %s", e);
    }
    return findings.list();
  }

  private static String modelOfCores() {
    Path file = Path.of("/proc/cpuinfo");
    try {
      if (Files.isReadable(file)) {
        for (String line : Files.readAllLines(file)) {
          if (line.startsWith("model name")) {
            return line.substring(line.indexOf(':') + 1).strip();
          }
        }
      }
    } catch (IOException e) {
      return "";
    }
    return "";
  }

  /** As texts, since tasks send back classes of Java only. */
  String[][] texts() {
    String[][] texts = new String[1 + findings.size()][];
    texts[0] = new String[] {where, blas, processor, python, Long.toString(millis)};
    for (int k = 0; k < findings.size(); k++) {
      texts[k + 1] = findings.get(k).texts();
    }
    return texts;
  }

  /** From {@link #texts}. */
  static HostExam of(String[][] texts) {
    var list = new ArrayList<Finding>();
    for (int k = 1; k < texts.length; k++) {
      list.add(Finding.of(texts[k]));
    }
    String[] facts = texts[0];
    return new HostExam(
        facts[0], list, facts[1], facts[2], facts[3], Long.parseLong(facts[FACTS - 1]));
  }
}
