/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.numeric.ReferenceDataTest;
import io.sparqr.numeric.SubtreeFactorizer;
import org.junit.jupiter.api.Tag;

/** The device gives the same answers for certified problems and NIST's sets. */
@Tag("gpu")
class CudaReferenceDataTest extends ReferenceDataTest {

  @Override
  protected SubtreeFactorizer create() {
    return TestDevice.provider().create(0);
  }
}
