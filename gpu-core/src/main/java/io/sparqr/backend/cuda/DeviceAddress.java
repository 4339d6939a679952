/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import jcuda.driver.CUdeviceptr;

/** An address as kernels use it, which JCuda keeps to itself. */
final class DeviceAddress extends CUdeviceptr {

  long value() {
    return getNativePointer();
  }
}
