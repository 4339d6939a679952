/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.util.Arrays;

/**
 * Householder reflectors H_r = I - tau_r v_r v_r' in order of their application to some rows of a
 * front. Reflector r acts on {@code length[r]} consecutive rows of the block, starting at row
 * {@code first[r]}; v_r is 1 in the first of them, and the other values are stored one after the
 * other in {@code v}. T of the compact WY form is not kept: its diagonal is tau, the rest follows
 * from V, and with few right-hand sides single reflectors move no more memory.
 *
 * <p>The block's rows are runs of the front's rows: {@code segments} holds (first row, rows) pairs.
 * Bytes: 8 per value of V, 16 per reflector, 8 per run. Arrays are shared and must not be modified.
 *
 * @param segments (first row of the front, rows) of each run
 * @param first size reflectors; the row of the block where v_r is 1
 * @param length size reflectors; rows of v_r, at least 1
 * @param tau size reflectors; none is 0
 * @param v sum of length - 1 values
 */
public record ReflectorBlock(int[] segments, int[] first, int[] length, double[] tau, double[] v) {

  /** Checks sizes in O(reflectors + runs). */
  public ReflectorBlock {
    long values = 0;
    int rows = 0;
    boolean inside = first.length == tau.length && length.length == tau.length;
    for (int k = 1; k < segments.length; k += 2) {
      rows = Math.addExact(rows, segments[k]);
      inside &= segments[k] >= 0 && segments[k - 1] >= 0;
    }
    for (int r = 0; inside && r < tau.length; r++) {
      values += length[r] - 1;
      inside = first[r] >= 0 && length[r] >= 1 && first[r] <= rows - length[r];
    }
    if (!inside || segments.length % 2 != 0 || values != v.length) {
      throw new IllegalArgumentException("inconsistent sizes of a block of reflectors");
    }
  }

  /** Number of reflectors. */
  public int count() {
    return tau.length;
  }

  /** Rows that the block acts on. */
  public int rows() {
    int rows = 0;
    for (int k = 1; k < segments.length; k += 2) {
      rows += segments[k];
    }
    return rows;
  }

  /** The first row of the front that the block touches. */
  int least() {
    int least = Integer.MAX_VALUE;
    for (int k = 0; k < segments.length; k += 2) {
      least = Math.min(least, segments[k]);
    }
    return least;
  }

  /** The last row of the front that the block touches, plus 1. */
  public int end() {
    int end = 0;
    for (int k = 1; k < segments.length; k += 2) {
      end = Math.max(end, Math.addExact(segments[k - 1], segments[k]));
    }
    return end;
  }

  /** One run of rows [from, from + rows). */
  public static int[] run(int from, int rows) {
    return new int[] {from, rows};
  }

  /** The runs of rows[0 .. count), in that order. */
  public static int[] runs(int[] rows, int count) {
    int[] segments = new int[16];
    int size = 0;
    int i = 0;
    while (i < count) {
      int from = i++;
      while (i < count && rows[i] == rows[i - 1] + 1) {
        i++;
      }
      if (size == segments.length) {
        segments = Arrays.copyOf(segments, 2 * size);
      }
      segments[size++] = rows[from];
      segments[size++] = i - from;
    }
    return Arrays.copyOf(segments, size);
  }

  /**
   * y := H_last ... H_1 y for some columns. Flops: 4 (values + reflectors) width.
   *
   * @param y column-major, the front's rows by {@code width} columns
   * @param ld leading dimension of y
   * @param width columns
   * @param work scratch for rows() x width values if the block has several runs; grown if too small
   * @return work
   */
  public double[] applyTransposed(double[] y, int ld, int width, double[] work) {
    return applied(false, y, ld, width, work);
  }

  /**
   * y := H_1 ... H_last y for some columns: {@link #applyTransposed} backwards, since a reflector
   * is its own inverse. Flops, arguments and result as there.
   */
  public double[] apply(double[] y, int ld, int width, double[] work) {
    return applied(true, y, ld, width, work);
  }

  private double[] applied(boolean backwards, double[] y, int ld, int width, double[] work) {
    if (segments.length == 2) {
      applyAll(backwards, y, segments[0], ld, width);
      return work;
    }
    int rows = rows();
    double[] z = work;
    if (z.length < (long) rows * width) {
      z = new double[Math.multiplyExact(rows, width)];
    }
    copyRuns(y, 0, ld, z, rows, width, true);
    applyAll(backwards, z, 0, rows, width);
    copyRuns(y, 0, ld, z, rows, width, false);
    return z;
  }

  /** Copies the block's rows of some columns, y from {@code offset} on, into z or back. */
  void copyRuns(double[] y, int offset, int ld, double[] z, int ldz, int width, boolean in) {
    for (int q = 0; q < width; q++) {
      int at = q * ldz;
      for (int k = 0; k < segments.length; k += 2) {
        int from = offset + q * ld + segments[k];
        if (in) {
          System.arraycopy(y, from, z, at, segments[k + 1]);
        } else {
          System.arraycopy(z, at, y, from, segments[k + 1]);
        }
        at += segments[k + 1];
      }
    }
  }

  private void applyAll(boolean backwards, double[] y, int from, int ld, int width) {
    if (backwards) {
      int at = v.length;
      for (int r = tau.length - 1; r >= 0; r--) {
        at -= length[r] - 1;
        applyOne(r, at, y, from, ld, width);
      }
      return;
    }
    int at = 0;
    for (int r = 0; r < tau.length; r++) {
      applyOne(r, at, y, from, ld, width);
      at += length[r] - 1;
    }
  }

  /** Reflector r, whose values begin at {@code at}. */
  private void applyOne(int r, int at, double[] y, int from, int ld, int width) {
    int n = length[r] - 1;
    int row = from + first[r];
    int q = 0;
    for (; q + 3 < width; q += 4) {
      Reflectors.reflect4(v, at, n, tau[r], y, row + q * ld, ld);
    }
    for (; q < width; q++) {
      Reflectors.reflect1(v, at, n, tau[r], y, row + q * ld);
    }
  }
}
