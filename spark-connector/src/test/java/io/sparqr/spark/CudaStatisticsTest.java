/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import org.junit.jupiter.api.Tag;

/** The same over factors of the GPU. */
@Tag("gpu")
class CudaStatisticsTest extends StatisticsTest {

  @Override
  BackendChoice backend() {
    return BackendChoice.REQUIRE_CUDA;
  }
}
