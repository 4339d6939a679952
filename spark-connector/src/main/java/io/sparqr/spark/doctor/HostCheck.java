/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import org.apache.spark.SparkConf;

/** A check within one JVM. */
interface HostCheck {

  /** What is looked at, in a word. */
  String name();

  /**
   * Looks.
   *
   * @param conf the application's settings
   */
  void look(SparkConf conf, Findings findings);
}
