/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * The 23 x 12 matrix of figures 1 to 4 in Yeralan, Davis and Ranka, "Sparse QR factorization on the
 * GPU".
 */
public final class PublishedMatrix {

  private static final int[][] ROWS = {
    {1, 2, 8},
    {1, 6, 11},
    {1, 2, 8, 11},
    {2, 6, 11},
    {2, 6, 11},
    {2, 8},
    {3, 6, 7, 12},
    {3, 12},
    {3, 6, 8},
    {3, 7, 8},
    {3, 7},
    {4, 11},
    {4, 5, 7, 9},
    {4, 5, 9, 11},
    {4, 5, 11},
    {5, 7, 8, 11, 12},
    {5, 6, 12},
    {5, 6, 8, 9, 11},
    {6, 7, 9, 12},
    {6, 8, 12},
    {7, 11, 12},
    {7, 8, 9, 11, 12},
    {8, 9, 10, 11, 12},
  };

  private PublishedMatrix() {}

  /** Column indices of figure 1's rows, 1-based as printed; to be read only. */
  public static int[][] rows() {
    return ROWS;
  }
}
