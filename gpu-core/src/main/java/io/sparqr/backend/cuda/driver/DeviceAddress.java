/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import jcuda.driver.CUdeviceptr;

/** An address as kernels use it, which JCuda keeps to itself. */
public final class DeviceAddress extends CUdeviceptr {

  public long value() {
    return getNativePointer();
  }
}
