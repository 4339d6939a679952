/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.JobScope;

final class InverseDiagonal {
  InverseDiagonal(SolvePlan plan, SingletonRows singletons, Levels levels) {}

  double[] run(JobScope scope) {
    throw new UnsupportedOperationException();
  }
}
