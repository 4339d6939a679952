/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Many vectors are solved with at a time, by BLAS where fronts are large: as each on its own. */
class ManySidesTest {

  private static final int COLUMNS = 300;

  @Test
  void eachIsAsOnItsOwn() {
    var random = new Random(5);
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < 4 * COLUMNS; i++) {
      int[] index = random.ints(0, COLUMNS).distinct().limit(12).sorted().toArray();
      double[] value = random.doubles(12, -1, 1).toArray();
      rows.add(new SparseRow(index, value, random.nextGaussian()));
    }
    List<SparseRow> vectors = new ArrayList<>();
    for (int j = 0; j < 50; j++) {
      vectors.add(new SparseRow(new int[] {6 * j}, new double[] {1}, 0));
    }
    try (QRFactorization f =
        GpuSparseQR.builder().factorize(LocalSpark.context().parallelize(rows, 2))) {
      double[][] all = f.inverseTimes(vectors);
      for (int j = 0; j < vectors.size(); j++) {
        double[] one = f.inverseTimes(List.of(vectors.get(j)))[0];
        double largest = 0;
        for (double v : one) {
          largest = Math.max(largest, Math.abs(v));
        }
        assertThat(largest).isPositive();
        for (int k = 0; k < COLUMNS; k++) {
          assertThat(all[j][k])
              .as("vector %d, column %d", j, k)
              .isCloseTo(one[k], within(Tolerances.RANDOM * largest));
        }
      }
    }
  }
}
