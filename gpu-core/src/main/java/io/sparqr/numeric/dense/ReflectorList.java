/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.util.Arrays;

/** Builds a {@link ReflectorBlock}: reflectors and their values are appended one by one. */
public final class ReflectorList {

  private int[] first = new int[16];
  private int[] length = new int[16];
  private double[] tau = new double[16];
  private double[] v = new double[256];
  private int count;
  private int values;

  /** Starts a reflector of {@code rows} rows with its 1 in row {@code row} of the block. */
  public void add(int row, int rows, double scale) {
    if (count == tau.length) {
      first = Arrays.copyOf(first, 2 * count);
      length = Arrays.copyOf(length, 2 * count);
      tau = Arrays.copyOf(tau, 2 * count);
    }
    first[count] = row;
    length[count] = rows;
    tau[count++] = scale;
    if (values + rows - 1 > v.length) {
      v = Arrays.copyOf(v, Math.max(Math.addExact(values, rows - 1), (int) (1.5 * v.length)));
    }
  }

  /** Appends a value to the last reflector; rows - 1 of them are required. */
  public void value(double x) {
    v[values++] = x;
  }

  /** The reflectors so far as one block. */
  public ReflectorBlock block(int... segments) {
    return new ReflectorBlock(
        segments,
        Arrays.copyOf(first, count),
        Arrays.copyOf(length, count),
        Arrays.copyOf(tau, count),
        Arrays.copyOf(v, values));
  }
}
