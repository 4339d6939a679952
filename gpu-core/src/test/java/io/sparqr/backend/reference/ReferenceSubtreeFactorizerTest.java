/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import org.junit.jupiter.api.Nested;

/** The task lists' executor under the contract of all backends. */
class ReferenceSubtreeFactorizerTest {

  @Nested
  class SmallFrontsWhole extends SubtreeFactorizerContract {
    @Override
    protected boolean solves() {
      return true;
    }

    @Override
    protected SubtreeFactorizer create() {
      return new ReferenceSubtreeFactorizer();
    }
  }

  @Nested
  class EveryFrontTiled extends SubtreeFactorizerContract {
    @Override
    protected boolean solves() {
      return true;
    }

    @Override
    protected SubtreeFactorizer create() {
      return new ReferenceSubtreeFactorizer(
          SchedulerOptions.defaults().withBundle(3).withSmallFronts(0, 0));
    }
  }

  @Nested
  class FrontByFront extends SubtreeFactorizerContract {
    @Override
    protected SubtreeFactorizer create() {
      return new HeathFactorizer();
    }
  }
}
