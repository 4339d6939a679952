/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.numeric.lowrank.PursuitTally;
import java.io.Serializable;

/**
 * R of some rows on its way up the tree, or a block of Q on its way down. Not a record, because
 * Kryo cannot read records.
 */
final class Triangle implements Serializable {

  private static final long serialVersionUID = 1;

  /** The partition, or the node of the tree, that it is of. */
  final int node;

  /** Rows and columns of {@link #values}. */
  final int height;

  final int columns;

  /** height x columns, column-major. */
  final double[] values;

  /** Rows of A below it. */
  final long rows;

  /** Of the bits of the partition's rows: a second reading must give the same. */
  final long checksum;

  /** What else its rows add up to. */
  final PursuitTally tally;

  /** Partitions below it whose rows were reduced on a device. */
  final int onDevices;

  Triangle(int node, int height, int columns, double[] values, long rows, long checksum) {
    this(node, height, columns, values, rows, checksum, PursuitTally.NONE);
  }

  Triangle(
      int node,
      int height,
      int columns,
      double[] values,
      long rows,
      long checksum,
      PursuitTally tally) {
    this(node, height, columns, values, rows, checksum, tally, 0);
  }

  private Triangle(
      int node,
      int height,
      int columns,
      double[] values,
      long rows,
      long checksum,
      PursuitTally tally,
      int onDevices) {
    this.node = node;
    this.height = height;
    this.columns = columns;
    this.values = values;
    this.rows = rows;
    this.checksum = checksum;
    this.tally = tally;
    this.onDevices = onDevices;
  }

  /** A copy, {@code count} partitions of which were reduced on devices. */
  Triangle onDevices(int count) {
    return new Triangle(node, height, columns, values, rows, checksum, tally, count);
  }
}
