/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import org.junit.jupiter.api.Tag;

/** Robust PCA on a device. */
@Tag("gpu")
class CudaPursuitTest extends CudaPursuitContract {

  @Override
  DeviceSessions sessions() {
    return new DeviceSessions(TestDevice.driver(), 0);
  }
}
