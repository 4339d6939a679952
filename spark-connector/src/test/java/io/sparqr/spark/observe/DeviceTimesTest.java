/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.DeviceTimeline.Cause;
import io.sparqr.spark.report.SolveProfile;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Timelines of devices as the report has them. */
class DeviceTimesTest {

  @Test
  void everyStageAndDeviceHasItsCauses() {
    long[] counted = new long[2 * Cause.COUNTED];
    counted[Cause.APPLY.ordinal()] = 1_500_000_000L;
    counted[Cause.COUNTED + Cause.WAIT_DEVICE.ordinal()] = 500_000_000L;
    var a = DeviceTimeline.of("a", 2, 2_000_000_000L, 77, 1_000_000_000L, counted);
    var b = DeviceTimeline.of("b", 2, 2_000_000_000L, 78, 1_000_000_000L, counted);
    List<SolveProfile.DeviceTime> all = Profiler.deviceTimes(new DeviceTimeline[][] {{a}, {a, b}});
    assertThat(all).extracting(SolveProfile.DeviceTime::stage).containsExactly(0, 1, 1);
    assertThat(all).extracting(SolveProfile.DeviceTime::device).containsExactly("a", "a", "b");
    SolveProfile.DeviceTime last = all.get(2);
    assertThat(last.blocks()).isEqualTo(78);
    assertThat(last.seconds()).isEqualTo(2);
    assertThat(last.binSeconds()).isEqualTo(1);
    assertThat(last.spent()).hasSize(Cause.values().length);
    assertThat(last.spent())
        .contains(
            new SolveProfile.Spent("apply", 0.375, List.of(1.5, 0.0)),
            new SolveProfile.Spent("wait for device", 0.125, List.of(0.0, 0.5)),
            new SolveProfile.Spent("no task", 0.5, List.of(0.5, 1.5)));
    assertThat(Profiler.deviceTimes(new DeviceTimeline[0][])).isEmpty();
  }
}
