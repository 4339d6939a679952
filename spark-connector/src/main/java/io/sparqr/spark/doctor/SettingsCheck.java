/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.configuration.Key;
import io.sparqr.configuration.Keys;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/** Settings that are wrong or slow, with the reason. */
final class SettingsCheck implements HostCheck {

  private static final String OURS = "spark.sparqr.";

  private final boolean driver;

  private final List<String> jvmOptions;

  /** Of the driver also the application's settings, which are the same everywhere. */
  SettingsCheck(boolean driver) {
    this(driver, ManagementFactory.getRuntimeMXBean().getInputArguments());
  }

  SettingsCheck(boolean driver, List<String> jvmOptions) {
    this.driver = driver;
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "settings";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    int before = findings.list().size();
    if (driver) {
      ours(conf, findings);
      spark(conf, findings);
    }
    jvm(findings);
    if (findings.list().size() == before) {
      findings.ok("no setting that hurts");
    }
  }

  /** Keys that do not exist, and values that cannot be read. */
  private static void ours(SparkConf conf, Findings findings) {
    Set<String> names = Keys.all().stream().map(Key::name).collect(Collectors.toSet());
    var set = new TreeMap<String, String>();
    for (Tuple2<String, String> one : conf.getAll()) {
      set.put(one._1(), one._2());
    }
    for (String name : set.keySet()) {
      if (name.startsWith(OURS) && !names.contains(name)) {
        findings.warning(
            "unset it; docs/guide/settings.md has the names", "%s is no setting of Sparqr", name);
      }
    }
    for (Key<?> key : Keys.all()) {
      try {
        key.find(set::get);
      } catch (IllegalArgumentException e) {
        findings.error("unset " + key.name(), "%s", String.valueOf(e.getMessage()));
      }
    }
  }

  private static void spark(SparkConf conf, Findings findings) {
    String master = conf.get("spark.master", "local[*]");
    boolean local = master.startsWith("local") && !master.startsWith("local-cluster");
    if (local && conf.contains("spark.task.resource.gpu.amount")) {
      findings.error(
          "unset spark.task.resource.gpu.amount",
          "spark.task.resource.gpu.amount with a local master: Spark never starts such a task");
    }
    int cpus = conf.getInt("spark.task.cpus", 1);
    int cores = conf.getInt("spark.executor.cores", Integer.MAX_VALUE);
    if (cpus > cores) {
      findings.error(
          "spark.task.cpus=1",
          "spark.task.cpus = %d, more than the %d of spark.executor.cores: no task ever starts",
          cpus,
          cores);
    }
    String serializer = conf.get("spark.serializer", "");
    if (serializer.endsWith("KryoSerializer")
        && conf.getBoolean("spark.kryo.registrationRequired", false)
        && !conf.get("spark.kryo.registrator", "").contains("SparqrRegistrator")) {
      findings.error(
          "spark.kryo.registrator=io.sparqr.spark.SparqrRegistrator",
          "spark.kryo.registrationRequired without our registrator: Kryo refuses our classes");
    }
    if (!conf.getBoolean("spark.shuffle.compress", true)) {
      findings.warning(
          "spark.shuffle.compress=true",
          "spark.shuffle.compress = false: a damaged block of a shuffle is not noticed when it is"
              + " fetched, and ends the job");
    }
    if (conf.getBoolean("spark.speculation", false)) {
      findings.note(
          "spark.speculation=false",
          "spark.speculation: the largest subtree task is often started twice, at the cost of its"
              + " cores and memory");
    }
  }

  private void jvm(Findings findings) {
    for (String option : jvmOptions) {
      if (option.equals("-Xint")) {
        findings.warning("remove -Xint", "-Xint: no code is compiled, everything is slower");
      }
      if (option.startsWith("-agentlib:jdwp")) {
        findings.note("remove " + option, "a debugger may be attached to this JVM");
      }
    }
  }
}
