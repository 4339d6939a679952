/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import org.junit.jupiter.api.Tag;

/** The same over factors of the GPU. */
@Tag("gpu")
class CudaRegressionStatisticsTest extends RegressionStatisticsTest {

  @Override
  String backend() {
    return "cuda";
  }
}
