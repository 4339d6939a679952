/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import org.junit.jupiter.api.Tag;

/** Q and R of dense matrices on a device. */
@Tag("gpu")
class CudaDenseQrTest extends CudaDenseQrContract {

  @Override
  DeviceSessions sessions() {
    return new DeviceSessions(TestDevice.driver(), 0);
  }
}
