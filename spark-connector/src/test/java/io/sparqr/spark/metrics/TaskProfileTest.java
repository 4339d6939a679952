/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.TimelineText;
import io.sparqr.numeric.WorkListener;
import io.sparqr.spark.wire.ObjectCodec;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.CollectionAccumulator;
import org.junit.jupiter.api.Test;

/** What a task's watch tells the driver. */
class TaskProfileTest {

  @Test
  void timelinesReachTheDriver() {
    long[] counted = new long[4 * DeviceTimeline.Cause.COUNTED];
    counted[DeviceTimeline.Cause.PULL.ordinal()] = 1_000_000_000L;
    var timeline = DeviceTimeline.of("gpu", 1, 4_000_000_000L, 9, 1_000_000_000L, counted);
    var told = new CollectionAccumulator<byte[]>();
    var watch = new TaskProfile.Watch(told, 5, 2);
    var flops = new ArrayList<Double>();
    WorkListener listener = watch.heardBy(flops::add);
    assertThat(listener.wantsTimelines()).isTrue();
    listener.done(3);
    listener.ran(List.of(timeline));
    listener.ran(List.of(timeline, timeline));
    watch.done(FactorSummary.none());
    assertThat(flops).containsExactly(3.0);
    TaskProfile profile = ObjectCodec.decode(told.value().get(0), TaskProfile.class);
    DeviceTimeline[][] stages = profile.timelines();
    assertThat(stages).hasNumberOfRows(2);
    assertThat(stages[1]).hasSize(2);
    assertThat(TimelineText.of(List.of(stages[1])))
        .isEqualTo(TimelineText.of(List.of(timeline, timeline)));
  }

  /** Devices measure nothing for a solve without a profile. */
  @Test
  void withoutAProfileNothingIsMeasured() {
    WorkListener progress = flops -> {};
    assertThat(new TaskProfile.Watch(null, 5, 2).heardBy(progress)).isSameAs(progress);
    assertThat(progress.wantsTimelines()).isFalse();
  }
}
