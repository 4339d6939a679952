/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Core types that OpenBLAS takes from {@link #VARIABLE} without asking the processor: one that
 * lacks the instructions would end this JVM with its first product.
 */
final class CoreType {

  static final String VARIABLE = "OPENBLAS_CORETYPE";

  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

  private static final String WIDE = "avx512f";

  private static final String WIDER = "avx512_bf16";

  /** What the kernels of a core type need; others need less than Spark's own natives. */
  private static final Map<String, String> NEEDED =
      Map.of(
          "HASWELL",
          "avx2",
          "ZEN",
          "avx2",
          "EXCAVATOR",
          "avx2",
          "SKYLAKEX",
          WIDE,
          "COOPERLAKE",
          WIDER,
          "SAPPHIRERAPIDS",
          WIDER);

  private CoreType() {}

  /**
   * Why kernels of this core type must not be called here; empty if they may, or nothing is known.
   */
  static Optional<String> unfit(String coreType) {
    try (var lines = Files.lines(PROCESSORS)) {
      return lines
          .filter(line -> line.startsWith("flags"))
          .findFirst()
          .flatMap(flags -> unfit(coreType, flags));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * As above.
   *
   * @param flags a line of names of what the processor has
   */
  static Optional<String> unfit(String coreType, String flags) {
    List<String> here = Arrays.asList(flags.split("\\s+"));
    String needed = NEEDED.get(coreType.toUpperCase(Locale.ROOT));
    if (needed == null || here.contains(needed)) {
      return Optional.empty();
    }
    return Optional.of(
        "%s=%s, but this processor has no %s: unset it, or name a core type of all machines, such as %s"
            .formatted(VARIABLE, coreType, needed, here.contains("avx2") ? "Haswell" : "Nehalem"));
  }
}
