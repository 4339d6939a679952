/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;

/** What belongs to one partition. */
public interface OfPartition extends Serializable {

  /** Its number. */
  int partition();
}
