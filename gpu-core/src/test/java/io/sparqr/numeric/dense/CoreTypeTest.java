/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** OPENBLAS_CORETYPE beside what the processor has. */
class CoreTypeTest {

  private static final String OLD = "flags : fpu sse4_2";
  private static final String USUAL = OLD + " avx2 fma";
  private static final String WIDE = USUAL + " avx512f avx512dq";
  private static final String NEWEST = WIDE + " avx512_bf16";

  @Test
  void kernelsThatTheProcessorCannotRunAreRefused() {
    assertThat(refusals(OLD))
        .containsExactly("Haswell", "ZEN", "SkylakeX", "COOPERLAKE", "SAPPHIRERAPIDS");
    assertThat(refusals(USUAL)).containsExactly("SkylakeX", "COOPERLAKE", "SAPPHIRERAPIDS");
    assertThat(refusals(WIDE)).containsExactly("COOPERLAKE", "SAPPHIRERAPIDS");
    assertThat(refusals(NEWEST)).isEmpty();
    assertThat(CoreType.unfit("skylakex", USUAL))
        .contains(
            "OPENBLAS_CORETYPE=skylakex, but this processor has no avx512f: unset it, or name a"
                + " core type of all machines, such as Haswell");
  }

  private static List<String> refusals(String flags) {
    return Stream.of("Nehalem", "Haswell", "ZEN", "SkylakeX", "COOPERLAKE", "SAPPHIRERAPIDS", "?")
        .filter(type -> CoreType.unfit(type, flags).isPresent())
        .toList();
  }
}
