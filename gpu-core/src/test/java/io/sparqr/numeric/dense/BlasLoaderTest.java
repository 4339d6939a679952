/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.ludovic.netlib.blas.BLAS;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlasLoaderTest {

  @Test
  void loadsEvenWhereTheApplicationHasTouchedNetlibBefore() {
    assertThat(BLAS.getInstance()).isNotNull();
    DenseKernels kernels = BlasLoader.kernels();
    boolean linux = System.getProperty("os.name").equals("Linux");
    boolean intel = System.getProperty("os.arch").equals("amd64");
    boolean asked = "java".equals(System.getProperty("sparqr.blas", System.getenv("SPARQR_BLAS")));
    assertThat(kernels.isNative()).as(kernels.description()).isEqualTo(linux && intel && !asked);
    assertThat(System.getProperty("dev.ludovic.netlib.blas.nativeLibPath")).isNull();
  }

  @Test
  void nativeAndJavaAgree() {
    var random = new Random(1);
    int m = 37;
    int n = 21;
    int k = 30;
    double[] a = random.doubles((long) 60 * 60).toArray();
    double[] b = random.doubles((long) 60 * 60).toArray();
    for (boolean transposed : List.of(false, true)) {
      double[] expected = random.doubles((long) 60 * 60).toArray();
      double[] x = expected.clone();
      double[] y = expected.clone();
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          double sum = 0;
          for (int l = 0; l < k; l++) {
            sum += a[7 + (transposed ? l + i * 50 : i + l * 50)] * b[3 + l + j * 40];
          }
          expected[11 + i + j * 45] = 0.5 * expected[11 + i + j * 45] - 2 * sum;
        }
      }
      BlasLoader.kernels().gemm(transposed, m, n, k, -2, a, 7, 50, b, 3, 40, 0.5, x, 11, 45);
      BlasLoader.javaKernels("test")
          .gemm(transposed, m, n, k, -2, a, 7, 50, b, 3, 40, 0.5, y, 11, 45);
      for (int i = 0; i < expected.length; i++) {
        assertThat(x[i]).isCloseTo(expected[i], within(4 * k * Math.ulp(2.0 * k)));
        assertThat(y[i]).isCloseTo(expected[i], within(4 * k * Math.ulp(2.0 * k)));
      }
    }
  }
}
