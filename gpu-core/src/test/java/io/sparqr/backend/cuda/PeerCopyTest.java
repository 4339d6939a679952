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
 * The kernels' PULL tasks on this machine (src/test/cuda/peer_copy.cu): every part of random
 * fronts. Skipped where there is no C++ compiler.
 */
class PeerCopyTest {

  private static final String PULLS = "400";

  @TempDir private Path folder;

  @Test
  void everyPartIsCopiedAndNothingElse() throws Exception {
    Path program = HostKernels.compile(folder, HostKernels.HEADERS, "peer_copy.cu");
    String seed = System.getProperty("test.seed", "1");
    HostKernels.Run run = HostKernels.run(program.toString(), PULLS, seed);
    assertThat(run.output()).contains("0 wrong of " + PULLS);
    assertThat(run.exit()).as(run.output()).isZero();
  }

  /** What of peers.cuh, and what instead. */
  @SampledCases(oneIn = 6)
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "e % TILE / 16|e % TILE / 32",
        "from + row * from_ld + column|from + row * to_ld + column + 2",
        "c / task.pull.width % task.pull.count|c % task.pull.count",
        "base + 32 * u < task.pull.column_to ? |base + 32 * u < task.pull.column_to - 1 ? ",
        "(front.fp + i) * from_ld|(front.fp + i) * to_ld",
        "atomicMax(stage.state + task.front, peer.state[task.front]);|",
      })
  void plantedErrorsAreFound(String what, String instead) throws Exception {
    Path headers = HostKernels.planted(folder, "several/peers.cuh", what, instead);
    Path program = HostKernels.compile(folder, headers, "peer_copy.cu");
    assertThat(HostKernels.run(program.toString(), PULLS, "1").exit()).isNotZero();
  }
}
