/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SharedCollection;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Q from a device: fronts that are copied to the host in many pieces, and in stages. */
@Tag("gpu")
class CudaKeptQTest {

  /** In slices under a slow tool. */
  static Stream<String> problems() {
    return SharedCollection.slice(
        List.of("gen:nug12:rand", "gen:cells3d20", "gen:onehot20000x200x50"));
  }

  @ParameterizedTest
  @MethodSource("problems")
  void theReflectorsAreThoseThatTheRightHandSideSaw(String problem) {
    SubtreeProblem p = DeviceCases.whole(problem);
    double tolerance = FactorOptions.defaultTolerance(p.rows().rows(), p.analysis().columns(), 100);
    try (var device = TestDevice.provider().create(0)) {
      SubtreeFactor whole = device.factor(p, new FactorOptions(tolerance, 8, 0, true));
      DeviceCases.checkReflectors(p, whole, problem);
      long less = whole.summary().peakDeviceBytes() * 2 / 3;
      SubtreeFactor staged = device.factor(p, new FactorOptions(tolerance, 8, less, true));
      assertThat(staged.summary().stages()).isGreaterThan(whole.summary().stages());
      DeviceCases.checkReflectors(p, staged, problem + " in stages");
      SubtreeFactor plain = device.factor(p, new FactorOptions(tolerance, 8, 0));
      assertThat(plain.reflectors()).isEmpty();
      assertThat(plain.summary().rank()).isEqualTo(whole.summary().rank());
    }
  }
}
