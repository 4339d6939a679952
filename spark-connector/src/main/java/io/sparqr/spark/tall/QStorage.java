/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

/** What becomes of Q of a {@link TallSkinnyQR}. */
public enum QStorage {

  /** Each executor keeps its partitions' reflectors in memory, 8 m n bytes in all. */
  STORED,

  /** The rows are read and factored once more for each use of Q; they must be the same rows. */
  RECOMPUTED,

  /** R alone is wanted: a use of Q is an error. */
  NONE
}
