/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.util.List;

/** Plans as frames, for tests of other packages. */
public final class PlanFrames {

  private PlanFrames() {}

  /** Of plans of different shape. */
  public static List<byte[]> frames() {
    return PlanCodecTest.plans().stream().map(PlanCodec::encode).toList();
  }

  /** What an executor does with one. */
  public static SolvePlan decode(byte[] frame) {
    return PlanCodec.decode(frame);
  }
}
