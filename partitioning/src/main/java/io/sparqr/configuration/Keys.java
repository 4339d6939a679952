/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import static io.sparqr.configuration.Key.Scope.JVM;
import static io.sparqr.configuration.Key.Scope.SPARK;

import java.util.List;
import java.util.stream.Collectors;

/**
 * All settings of Sparqr other than the options of a solve. The tables of docs/guide/settings.md
 * are generated from this list.
 */
public final class Keys {

  public static final Key<Long> PATTERN_MEMORY =
      Key.count(
          "spark.sparqr.driver.patternMemory",
          SPARK,
          0,
          Long.MAX_VALUE,
          null,
          "the free heap",
          "limit of the driver's memory for pattern and analysis, in bytes. A larger"
              + " need is an `InsufficientMemoryException` before anything is collected");

  public static final Key<Long> ROW_PATTERNS =
      Key.count(
          "spark.sparqr.driver.rowPatterns",
          SPARK,
          0,
          Long.MAX_VALUE,
          null,
          "a quarter of the driver's heap",
          "limit of the distinct row patterns on the driver, in bytes (16 a pattern, 4"
              + " an entry). Beyond it the executors build the graph of A'A, which is analyzed"
              + " instead, without column singletons and with one order");

  public static final Key<Double> MINIMUM_INTENSITY =
      Key.number(
          "spark.sparqr.cuda.minimumIntensity",
          SPARK,
          0,
          null,
          "5 on an H200",
          "arithmetic intensity (flops a byte of the fronts) below which `AUTO` stays"
              + " on the CPU; derived from the device's FP64 peak"
              + " ([kernels](../design/kernels.md#cpu-or-device)). Decided once, on the"
              + " driver, for cut, stages and tasks");

  public static final Key<Double> MINIMUM_FLOPS =
      Key.number(
          "spark.sparqr.cuda.minimumFlops",
          SPARK,
          0,
          null,
          "1e9; 1e7 on a device that stays open",
          "flops below which `AUTO` stays on the CPU, which does them in 0.1 s; opening"
              + " a device takes longer. One stays open from the warm-up to the end of an"
              + " application with a local master ([warm-up](warm-up.md))");

  public static final Key<Double> CORE_FLOPS =
      Key.positive(
          "spark.sparqr.model.coreFlops",
          SPARK,
          2e10,
          "2e10",
          "flops a second of one CPU core on large fronts");

  public static final Key<Double> DEVICE_FLOPS =
      Key.positive(
          "spark.sparqr.model.deviceFlops",
          SPARK,
          null,
          "0.6 of the device's FP64 peak without tensor cores; for an unknown device 2e13, as an H200",
          "useful flops a second of a GPU on large fronts");

  public static final Key<Double> DEVICE_BANDWIDTH =
      Key.positive(
          "spark.sparqr.model.deviceBandwidth",
          SPARK,
          null,
          "8e10",
          "bytes of fronts a second on a GPU: the cost of small fronts");

  public static final Key<String> DEVICE_MEMORY =
      Key.text(
          "spark.sparqr.model.deviceMemory",
          SPARK,
          "the device's; for an unknown device `140g`",
          "memory of a GPU, in Spark's notation of sizes");

  public static final Key<Double> NETWORK_BANDWIDTH =
      Key.positive(
          "spark.sparqr.model.networkBandwidth",
          SPARK,
          null,
          "1e9",
          "bytes a second from one executor to another");

  public static final Key<Double> LEVEL_SECONDS =
      Key.positive(
          "spark.sparqr.model.levelSeconds",
          SPARK,
          null,
          "0.1; 0.01 on the devices of one JVM",
          "fixed cost of a Spark stage in seconds, with the latency of its shuffle");

  public static final Key<Double> BLOCK_BANDWIDTH =
      Key.positive(
          "spark.sparqr.model.blockBandwidth",
          SPARK,
          null,
          "3e8",
          "bytes of contribution blocks a second that a task on a GPU hands to another: out of its"
              + " memory, through Spark's shuffle, and back");

  public static final Key<Double> WARMUP =
      Key.number(
          "spark.sparqr.warmup",
          SPARK,
          0,
          10.0,
          "10",
          "longest duration, in seconds, of the warm-up at the start of an application, if"
              + " there is one ([warm-up](warm-up.md)); 0: none");

  public static final Key<Boolean> WARMUP_JOBS =
      Key.flag(
          "spark.sparqr.warmup.jobs",
          SPARK,
          null,
          "true with a local master",
          "whether the driver's warm-up solves by Spark jobs, which Spark's pages show;"
              + " otherwise without Spark, whose first job then takes a second of class loading");

  public static final Key<Double> ROW_COPY_SHARE =
      Key.number(
          "sparqr.rows.copyShare",
          JVM,
          0,
          0.0625,
          "0.0625",
          "share of the heap that compact copies of rows may take in all:"
              + " 12 bytes an entry and 20 a row. With a given analysis, and where all tasks run in"
              + " the driver's JVM, the first reading leaves such a copy, and there is no second"
              + " ([decision](../adr/0036-rows-read-once.md)). In the driver's JVM the first solve"
              + " for further right-hand sides leaves one, too, and later ones, like steps of"
              + " refinement, do not read the rows again"
              + " ([decision](../adr/0032-copied-rows.md)). 0: rows are always read again");

  public static final Key<Long> FACTOR_MEMORY =
      Key.count(
          "sparqr.factor.memory",
          JVM,
          0,
          Long.MAX_VALUE,
          null,
          "half of what the machine or container has beside the heap, at most three"
              + " quarters of `-XX:MaxDirectMemorySize` (which is the heap's size if not set); on YARN"
              + " a twentieth of the heap",
          "bytes of R that a JVM keeps in memory outside the heap; R beyond that goes to"
              + " an unnamed temporary file. Spark does not count them: leave room in"
              + " `spark.executor.memoryOverhead` ([cluster](cluster.md#where-r-is))");

  public static final Key<Double> IDLE_SECONDS =
      Key.number(
          "sparqr.cuda.idleSeconds",
          JVM,
          0,
          5.0,
          "5",
          "seconds to keep a device's context, kernels and page-locked buffers (at most"
              + " 1 GiB) after a task, with a local master's [warm-up](warm-up.md) until the"
              + " application ends; 0: release them at once. Device memory is released"
              + " after every task, but for R (`sparqr.cuda.residentShare`)");

  public static final Key<Double> RESIDENT_SHARE =
      Key.number(
          "sparqr.cuda.residentShare",
          JVM,
          0,
          0.4,
          "0.4",
          "share of a device's memory in which R of factorizations stays for later"
              + " solves. The least recently used leave it to newer ones, and to a factorization"
              + " that needs the memory, for page-locked memory of the host, which counts as"
              + " `sparqr.factor.memory`; 0: R does not stay"
              + " ([decision](../adr/0031-resident-copy.md))");

  public static final Key<Double> RESIDENT_SECONDS =
      Key.number(
          "sparqr.cuda.residentSeconds",
          JVM,
          0,
          600.0,
          "600",
          "seconds without a solve after which R is freed on the device, if its"
              + " factorization is not closed before");

  public static final Key<Long> BUNDLE =
      Key.count(
          "sparqr.cuda.bundle",
          JVM,
          2,
          8,
          8L,
          "8",
          "row tiles of the largest bundle, 2 to 8; comes before a tuning");

  public static final Key<String> TUNING_FILE =
      Key.text(
          "sparqr.tuning.file",
          JVM,
          "`~/.sparqr/tuning.json`, if it is there",
          "file of `sparqr tune`, read by the driver alone: the plan carries the tuning to the"
              + " tasks. One that is damaged, or for other devices, another driver or other"
              + " kernels, is ignored with a warning; `none`: no file"
              + " ([tuning](../design/scheduler.md#tuning))");

  public static final Key<Long> WAIT_MILLIS =
      Key.count(
          "sparqr.cuda.waitMillis",
          JVM,
          1,
          Long.MAX_VALUE,
          60_000L,
          "60000",
          "longest wait of a device task for its inputs, in milliseconds. A deadlocked"
              + " list ends then, and its Spark task is repeated");

  public static final Key<Boolean> REFLECTORS =
      Key.flag(
          "sparqr.cuda.reflectors",
          JVM,
          false,
          "true: all column tiles by Householder reflectors, none by Cholesky QR"
              + " ([kernels](../design/kernels.md#by-cholesky-qr)); slower, for comparison");

  public static final Key<String> BLAS =
      Key.text(
          "sparqr.blas",
          JVM,
          "OpenBLAS, if it can be loaded",
          "`java`: the CPU backend in plain Java; the environment variable"
              + " `SPARQR_BLAS` has the same effect");

  public static final Key<String> NATIVE_FOLDER =
      Key.text(
          "sparqr.native.folder",
          JVM,
          "`sparqr-<user>` in `java.io.tmpdir`; `~/.cache/sparqr`, if that is mounted noexec",
          "private folder for all native libraries, created with mode 0700 (unless it is"
              + " set, OpenBLAS is in `~/.javacpp/cache`, and the interface to it in"
              + " `java.io.tmpdir`, where that is possible). A folder that"
              + " belongs to another user, is open to others or is a link is refused");

  public static final Key<String> LOG_LEVEL =
      Key.text(
          "sparqr.log.level",
          JVM,
          "`off`; with `--verbose` `warn`",
          "level of Spark's log when `sparqr` runs without spark-submit; with"
              + " `--verbose` Sparqr's own lines are shown too");

  private static final List<Key<?>> ALL =
      List.of(
          PATTERN_MEMORY,
          ROW_PATTERNS,
          MINIMUM_INTENSITY,
          MINIMUM_FLOPS,
          CORE_FLOPS,
          DEVICE_FLOPS,
          DEVICE_BANDWIDTH,
          DEVICE_MEMORY,
          NETWORK_BANDWIDTH,
          LEVEL_SECONDS,
          BLOCK_BANDWIDTH,
          WARMUP,
          WARMUP_JOBS,
          ROW_COPY_SHARE,
          FACTOR_MEMORY,
          IDLE_SECONDS,
          RESIDENT_SHARE,
          RESIDENT_SECONDS,
          BUNDLE,
          TUNING_FILE,
          WAIT_MILLIS,
          REFLECTORS,
          BLAS,
          NATIVE_FOLDER,
          LOG_LEVEL);

  private Keys() {}

  /** All keys. */
  public static List<Key<?>> all() {
    return ALL;
  }

  /** The documentation's table for a scope. */
  public static String table(Key.Scope scope) {
    return ALL.stream()
        .filter(k -> k.scope() == scope)
        .map(k -> "| `%s` | %s | %s |%n".formatted(k.name(), k.otherwise(), k.meaning()))
        .collect(Collectors.joining("", "| key | default | meaning |\n|---|---|---|\n", ""));
  }
}
