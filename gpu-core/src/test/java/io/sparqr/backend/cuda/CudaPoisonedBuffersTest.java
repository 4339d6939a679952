/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import org.junit.jupiter.api.Tag;

/** Nothing is read before it is written: all buffers are filled with NaN before each stage. */
@Tag("gpu")
class CudaPoisonedBuffersTest extends SubtreeFactorizerContract {

  @Override
  protected boolean solves() {
    return true;
  }

  @Override
  protected SubtreeFactorizer create() {
    var factorizer = (CudaSubtreeFactorizer) TestDevice.provider().create(0);
    factorizer.set(new TestModes(true, false, Transfers.PIECE_BYTES));
    return factorizer;
  }
}
