/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

/**
 * The decision whether a problem runs on GPUs. Made once, on the driver, from the analysis of the
 * factorization; the cut of the tree, the resource profile of the stages and every task follow it.
 */
public sealed interface DeviceVerdict {

  /** The reason, in one line. */
  String reason();

  /**
   * The problem runs on GPUs.
   *
   * @param required whether a task without a GPU fails or uses the CPU
   * @param reason the reason
   */
  record Use(boolean required, String reason) implements DeviceVerdict {}

  /**
   * The problem stays on CPUs.
   *
   * @param reason the reason
   */
  record Refuse(String reason) implements DeviceVerdict {}

  /** Whether GPUs are used. */
  default boolean use() {
    return this instanceof Use;
  }

  /** Whether every task must get one. */
  default boolean required() {
    return this instanceof Use use && use.required;
  }
}
