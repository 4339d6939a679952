/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend;

import java.io.Serializable;

/**
 * What times of kernels depend on: a tuning is worth something where all three are the same.
 *
 * @param device name of the chip
 * @param driver its version
 * @param kernels hash of the machine code, or of what the driver makes it of
 */
public record DeviceKey(String device, String driver, String kernels) implements Serializable {

  @Override
  public String toString() {
    return "%s, driver %s, kernels %s".formatted(device, driver, kernels);
  }
}
