/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import org.junit.jupiter.api.Tag;

/** Every column tile is factorized by reflectors, even where Cholesky QR would be used. */
@Tag("gpu")
class CudaReflectorsTest extends SubtreeFactorizerContract {

  @Override
  protected boolean solves() {
    return true;
  }

  @Override
  protected SubtreeFactorizer create() {
    var factorizer = (CudaSubtreeFactorizer) TestDevice.provider().create(0);
    factorizer.set(new TestModes(false, true, Transfers.PIECE_BYTES));
    return factorizer;
  }
}
