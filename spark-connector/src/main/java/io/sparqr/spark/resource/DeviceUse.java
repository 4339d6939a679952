/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

/** Whether a problem is one for GPUs. */
public enum DeviceUse {
  /** It stays on CPUs. */
  NONE,
  /** It goes to those that the tasks get, elsewhere to CPUs. */
  WHERE_THERE,
  /** Every task must get one, or fails. */
  REQUIRED;

  /** Whether GPUs count at all. */
  public boolean any() {
    return this != NONE;
  }
}
