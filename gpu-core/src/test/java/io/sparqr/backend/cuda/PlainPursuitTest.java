/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.reference.PlainCalls;
import io.sparqr.error.FatalCudaException;
import io.sparqr.matrix.gallery.LowRankPlusSparse;
import io.sparqr.numeric.lowrank.PlacedPursuit;
import io.sparqr.numeric.lowrank.PursuitOptions;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Robust PCA on a driver whose devices are the plain executor. */
class PlainPursuitTest extends CudaPursuitContract {

  private long before;

  @Override
  DeviceSessions sessions() {
    return new DeviceSessions(
        new CudaDriver(new PlainCalls(1, true).calls()),
        0,
        capability -> new KernelImage(part -> new byte[1]));
  }

  /** A lost device ends the iterations with its error, and nothing is tried with it again. */
  @ParameterizedTest
  @ValueSource(ints = {0, 3, 10, 25})
  void aDeviceThatIsLost(int launches) {
    var left = new AtomicInteger(launches);
    // CUDA_ERROR_ILLEGAL_ADDRESS
    CudaCalls calls =
        FaultyCalls.of(
            new PlainCalls(1, true).calls(),
            (call, a) -> call.equals("launch") && left.getAndDecrement() <= 0 ? 700 : null);
    var lost =
        new DeviceSessions(
            new CudaDriver(calls), 0, capability -> new KernelImage(part -> new byte[1]));
    double[][] matrix = new LowRankPlusSparse(60, 20, 2, 0.05, 1).matrix();
    assertThatThrownBy(
            () ->
                PlacedPursuit.decompose(
                    matrix,
                    PursuitOptions.DEFAULTS,
                    1,
                    rows -> Optional.of(new CudaPursuit(lost, 0, rows, 1))))
        .isInstanceOf(FatalCudaException.class)
        .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
    // What a lost device held goes with the process.
    before = LiveResources.total();
  }

  @BeforeEach
  void count() {
    before = LiveResources.total();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(LiveResources.total()).as("resources left").isEqualTo(before);
  }
}
