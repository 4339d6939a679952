/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import org.junit.jupiter.api.Tag;

/** The kernel for bundles of at most 4, and every front tiled. */
@Tag("gpu")
class CudaSmallBundlesTest extends SubtreeFactorizerContract {

  @Override
  protected boolean solves() {
    return true;
  }

  @Override
  protected SubtreeFactorizer create() {
    return new CudaSubtreeFactorizer(
        TestDevice.driver(), 0, SchedulerOptions.defaults().withSmallFronts(0, 0));
  }
}
