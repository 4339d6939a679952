/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

/**
 * Whether a problem is one for GPUs. Decided once, on the driver, for the analysis that is
 * factorized; the cut of the tree, the stages' resource profile and every task go by it.
 */
public sealed interface DeviceVerdict {

  /** Why; one line. */
  String reason();

  /**
   * It goes to GPUs.
   *
   * @param required whether a task that gets none fails, or goes to the CPU
   * @param reason why
   */
  record Use(boolean required, String reason) implements DeviceVerdict {}

  /**
   * It stays on CPUs.
   *
   * @param reason why
   */
  record Refuse(String reason) implements DeviceVerdict {}

  /** Whether GPUs count at all. */
  default boolean use() {
    return this instanceof Use;
  }

  /** Whether every task must get one. */
  default boolean required() {
    return this instanceof Use use && use.required;
  }
}
