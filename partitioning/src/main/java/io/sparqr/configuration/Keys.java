/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import static io.sparqr.configuration.Key.Scope.JVM;
import static io.sparqr.configuration.Key.Scope.SPARK;

import java.util.List;
import java.util.stream.Collectors;

/**
 * All settings of Sparqr that are no options of a solve. The tables of docs/guide/configuration.md
 * are made of this one.
 */
public final class Keys {

  public static final Key<Long> PATTERN_MEMORY =
      Key.count(
          "spark.sparqr.driver.patternMemory",
          SPARK,
          0,
          Long.MAX_VALUE,
          null,
          "what the heap has left",
          "bytes that pattern and analysis may take on the driver. Needing more is"
              + " `InsufficientMemoryException` before anything is collected");

  public static final Key<Long> ROW_PATTERNS =
      Key.count(
          "spark.sparqr.driver.rowPatterns",
          SPARK,
          0,
          Long.MAX_VALUE,
          null,
          "a quarter of the driver's heap",
          "bytes of distinct row patterns (16 a pattern, 4 an entry) that are brought to the driver."
              + " Where there are more, the graph of A'A is made on the executors and analyzed in"
              + " their place: without column singletons, by one order");

  public static final Key<Double> MINIMUM_INTENSITY =
      Key.number(
          "spark.sparqr.cuda.minimumIntensity",
          SPARK,
          0,
          null,
          "5 on an H200",
          "flops a byte of the fronts below which `AUTO` stays on the CPU; derived from the device's"
              + " FP64 peak ([kernels.md](../design/kernels.md)). Asked once, on the driver; cut, stages and"
              + " tasks go by it");

  public static final Key<Double> MINIMUM_FLOPS =
      Key.number(
          "spark.sparqr.cuda.minimumFlops",
          SPARK,
          0,
          null,
          "1e9",
          "flops below which `AUTO` stays on the CPU: done there in 0.1 s, opening a device takes"
              + " longer");

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
          "0.3 of the device's FP64 peak; of an unknown one that of an H200, 1e13",
          "useful flops a second of a GPU on large fronts");

  public static final Key<Double> DEVICE_BANDWIDTH =
      Key.positive(
          "spark.sparqr.model.deviceBandwidth",
          SPARK,
          null,
          "6e10",
          "bytes of fronts a second that a GPU takes: what small fronts cost");

  public static final Key<String> DEVICE_MEMORY =
      Key.text(
          "spark.sparqr.model.deviceMemory",
          SPARK,
          "the device's; an unknown one's `140g`",
          "memory of a GPU, as Spark writes sizes");

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
          "0.1",
          "seconds of a Spark stage, its shuffle's latency included");

  public static final Key<Double> IDLE_SECONDS =
      Key.number(
          "sparqr.cuda.idleSeconds",
          JVM,
          0,
          5.0,
          "5",
          "how long a device's context, kernels and page-locked buffers (at most 1 GiB) are kept"
              + " after a task; 0: not at all. Device memory is given back after every task");

  public static final Key<Long> BUNDLE =
      Key.count(
          "sparqr.cuda.bundle", JVM, 2, 8, 8L, "8", "row tiles of the largest bundle, 2 to 8");

  public static final Key<Long> WAIT_MILLIS =
      Key.count(
          "sparqr.cuda.waitMillis",
          JVM,
          1,
          Long.MAX_VALUE,
          60_000L,
          "60000",
          "milliseconds that a task of a list may wait on the device for what it needs; a list that"
              + " waits for itself ends then and its task is done again");

  public static final Key<Boolean> REFLECTORS =
      Key.flag(
          "sparqr.cuda.reflectors",
          JVM,
          false,
          "true: every column tile by Householder reflectors, none by Cholesky QR"
              + " ([kernels.md](../design/kernels.md)); slower, and for comparison");

  public static final Key<String> BLAS =
      Key.text(
          "sparqr.blas",
          JVM,
          "OpenBLAS, where it can be loaded",
          "`java`: the CPU backend's kernels in plain Java; the environment variable `SPARQR_BLAS`"
              + " says the same");

  public static final Key<String> NATIVE_FOLDER =
      Key.text(
          "sparqr.native.folder",
          JVM,
          "`sparqr-<user>` in `java.io.tmpdir`",
          "where JCuda's native library is put to be loaded (and OpenBLAS, where"
              + " `~/.javacpp/cache` cannot be written to): a folder of the user's own, made with"
              + " mode 0700; one that belongs to somebody else, is open to others or is a link is"
              + " refused");

  public static final Key<String> LOG_LEVEL =
      Key.text(
          "sparqr.log.level",
          JVM,
          "`off`; with `--verbose` `warn`",
          "what of Spark's log `sparqr` lets through when it is started without spark-submit; with"
              + " `--verbose` our own lines, too");

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
          IDLE_SECONDS,
          BUNDLE,
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

  /** The documentation's table of a scope. */
  public static String table(Key.Scope scope) {
    return ALL.stream()
        .filter(k -> k.scope() == scope)
        .map(k -> "| `%s` | %s | %s |%n".formatted(k.name(), k.otherwise(), k.meaning()))
        .collect(Collectors.joining("", "| key | default | meaning |\n|---|---|---|\n", ""));
  }
}
