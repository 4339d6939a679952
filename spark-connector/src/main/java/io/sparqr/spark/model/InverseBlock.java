/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

/**
 * (A'A)^-1 on k columns, of which a strip comes to the driver at a time. Usable until it is closed,
 * or the factorization is.
 */
public interface InverseBlock extends AutoCloseable {

  /** The number k of columns, in the order in which they were given. */
  int columns();

  /**
   * All k rows of columns [from, to), each of to - from values; 0 in dependent columns. One Spark
   * job, and for columns that do not meet the others in one front two triangular solves.
   *
   * @throws IndexOutOfBoundsException unless 0 <= from <= to <= k
   */
  double[][] strip(int from, int to);

  /** Releases what executors keep of it. */
  @Override
  void close();
}
