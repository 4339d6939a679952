/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.util.Random;
import java.util.zip.CRC32C;

/**
 * A few digits that tell kernels apart whose results differ in their last bits. OpenBLAS chooses
 * its kernels by the processor, and kernels add the same products in another order: with other
 * register tiles, and cuts of the inner dimension that are made for other caches.
 */
final class KernelBits {

  /** Products: m, n and k. Small ones have kernels of their own; the long k is cut. */
  private static final int[][] SHAPES = {{5, 7, 40}, {24, 24, 3000}, {130, 110, 130}};

  private KernelBits() {}

  /** Four hexadecimal digits; some milliseconds. */
  static String of(DenseKernels kernels) {
    var random = new Random(1);
    var sum = new CRC32C();
    for (int[] s : SHAPES) {
      for (boolean transposed : new boolean[] {false, true}) {
        double[] a = random.doubles((long) s[0] * s[2], -1, 1).toArray();
        double[] b = random.doubles((long) s[2] * s[1], -1, 1).toArray();
        double[] c = new double[s[0] * s[1]];
        int lda = transposed ? s[2] : s[0];
        kernels.gemm(transposed, s[0], s[1], s[2], 1, a, 0, lda, b, 0, s[2], 0, c, 0, s[0]);
        for (double v : c) {
          long bits = Double.doubleToRawLongBits(v);
          for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            sum.update((int) (bits >>> shift) & 0xff);
          }
        }
      }
    }
    return "%04x".formatted(sum.getValue() & 0xffff);
  }
}
