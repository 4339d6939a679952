/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.reference.PlainCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

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

  @BeforeEach
  void count() {
    before = LiveResources.total();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(LiveResources.total()).as("resources left").isEqualTo(before);
  }
}
