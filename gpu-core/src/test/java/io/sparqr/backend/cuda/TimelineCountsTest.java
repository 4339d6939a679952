/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.SampledCases;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What the kernels count of a device's time, on this machine (src/test/cuda/timeline_counts.cu):
 * random tasks against a count by the nanosecond. Skipped where there is no C++ compiler.
 */
class TimelineCountsTest {

  private static final String LISTS = "300";

  @TempDir private Path folder;

  @Test
  void everyNanosecondIsInItsBinAndCause() throws Exception {
    Path program = HostKernels.compile(folder, HostKernels.HEADERS, "timeline_counts.cu");
    String seed = System.getProperty("test.seed", "1");
    HostKernels.Run run = HostKernels.run(program.toString(), LISTS, seed);
    assertThat(run.output()).contains("0 wrong of " + LISTS);
    assertThat(run.exit()).as(run.output()).isZero();
  }

  /** What of timeline.cuh, and what instead. */
  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "return atomicMin(&timeline.begin, now);|return timeline.begin = now;",
        "clock.waited = clock.pulled = timer_nanos();|clock.waited = timer_nanos();",
        "end = to < next ? to : next;|end = to;",
        "begin + ((bin + 1) << shift)|begin + ((bin + 2) << shift)",
        "bin < SPARQR_BINS - 1 ? bin : SPARQR_BINS - 1|bin % SPARQR_BINS",
        "clock.waited, clock.missing);|clock.waited, SPARQR_WAIT_CHAIN);",
        "clock.pulled, now, work_of(kind)|clock.waited, now, work_of(kind)",
        "atomicMax(&timeline.end, now);|timeline.end = now;",
        "    case SPARQR_APPLY_NEAR:|",
        "    case SPARQR_ANNOUNCE:|",
      })
  void plantedErrorsAreFound(String what, String instead) throws Exception {
    Path headers = HostKernels.planted(folder, "several/timeline.cuh", what, instead);
    Path program = HostKernels.compile(folder, headers, "timeline_counts.cu");
    assertThat(HostKernels.run(program.toString(), LISTS, "1").exit()).isNotZero();
  }
}
