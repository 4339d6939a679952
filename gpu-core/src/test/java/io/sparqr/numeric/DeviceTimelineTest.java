/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.DeviceTimeline.Cause;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Counts of the kernels as a timeline, and the text of it. */
class DeviceTimelineTest {

  private static final long SECOND = 1_000_000_000L;

  private static void put(long[] counted, int bin, Cause cause, long nanos) {
    counted[Cause.COUNTED * bin + cause.ordinal()] = nanos;
  }

  /** Two slots for three bins of 0.5 s and a last one of 0.25 s. */
  private static DeviceTimeline small() {
    long[] counted = new long[8 * Cause.COUNTED];
    put(counted, 0, Cause.FACTORIZE, SECOND);
    put(counted, 1, Cause.APPLY, SECOND / 2);
    put(counted, 1, Cause.WAIT_CHAIN, SECOND / 2);
    put(counted, 2, Cause.PULL, SECOND / 4);
    put(counted, 2, Cause.WAIT_DEVICE, SECOND / 2);
    put(counted, 3, Cause.APPLY, SECOND / 4);
    return DeviceTimeline.of("gpu", 2, 7 * SECOND / 4, 12, SECOND / 2, counted);
  }

  @Test
  void sharesAreThoseOfTheCounts() {
    DeviceTimeline t = small();
    assertThat(t.bins()).isEqualTo(4);
    assertThat(t.seconds()).isEqualTo(1.75);
    assertThat(t.length(0)).isEqualTo(0.5);
    assertThat(t.length(3)).isEqualTo(0.25);
    assertThat(t.share(Cause.FACTORIZE)).isEqualTo(1 / 3.5);
    assertThat(t.share(Cause.APPLY)).isEqualTo(0.75 / 3.5);
    assertThat(t.share(Cause.NO_TASK)).isEqualTo(0.5 / 3.5);
    assertThat(t.share(Cause.FACTORIZE, 0)).isEqualTo(1);
    assertThat(t.share(Cause.WAIT_CHAIN, 1)).isEqualTo(0.5);
    assertThat(t.share(Cause.WAIT_DEVICE, 2)).isEqualTo(0.5);
    assertThat(t.share(Cause.NO_TASK, 2)).isEqualTo(0.25);
    assertThat(t.share(Cause.APPLY, 3)).isEqualTo(0.5);
    assertThat(t.share(Cause.NO_TASK, 3)).isEqualTo(0.5);
  }

  @Test
  void theTextTellsOfCopiesIfAnyWereMeasured() {
    var copies = new DeviceTimeline.Copies(0.0512, 0.04, 984_000_000);
    assertThat(small().withCopies(copies).toString())
        .isEqualTo(
            small()
                + "  copies 0.0512 s of 0.984 GB, 78.1% of it while tasks ran"
                + System.lineSeparator());
  }

  @Test
  void theTextHasALineForEachCauseThatThereIs() {
    String expected =
        """
        gpu: 1.7500 s, 57.1% work, 12 tasks in 2 block slots, 4 bins of 500.000 ms
          factorize           28.6%  #...
          apply               21.4%  .5.5
          pull                 7.1%  ..3.
          wait for chain      14.3%  .5..
          wait for device     14.3%  ..5.
          no task             14.3%  ..35
        """;
    assertThat(TimelineText.of(List.of(small())).replace(System.lineSeparator(), "\n"))
        .isEqualTo(expected);
    assertThat(TimelineText.of(List.of())).isEmpty();
  }

  /** Two causes in each other's place, or a bin later, are seen. */
  @Test
  void anotherOrderOfTheCountsIsAnotherText() {
    long[] counted = new long[8 * Cause.COUNTED];
    put(counted, 0, Cause.APPLY, SECOND);
    String right = TimelineText.of(List.of(DeviceTimeline.of("a", 1, SECOND, 1, 2, counted)));
    for (int moved : new int[] {0, 2, Cause.COUNTED + 1}) {
      long[] other = new long[8 * Cause.COUNTED];
      other[moved] = SECOND;
      assertThat(TimelineText.of(List.of(DeviceTimeline.of("a", 1, SECOND, 1, 2, other))))
          .isNotEqualTo(right);
    }
  }

  @Test
  void aShareIsRoundedToTenths() {
    assertThat(TimelineText.tenths(-0.2)).isEqualTo('.');
    assertThat(TimelineText.tenths(0.049)).isEqualTo('.');
    assertThat(TimelineText.tenths(0.051)).isEqualTo('1');
    assertThat(TimelineText.tenths(0.949)).isEqualTo('9');
    assertThat(TimelineText.tenths(0.951)).isEqualTo('#');
    assertThat(TimelineText.tenths(1.2)).isEqualTo('#');
  }

  /** Bins are joined to at most 64, of the same nanoseconds; the last one may be long. */
  @Test
  void manyBinsAreJoinedAndNothingIsLost() {
    var random = new Random(5);
    for (int k = 0; k < 200; k++) {
      long binNanos = 1 + random.nextInt(1000);
      long nanos = 1 + random.nextInt(700_000);
      long[] counted = new long[512 * Cause.COUNTED];
      long[] sum = new long[Cause.COUNTED];
      int used = (int) Math.min(512, (nanos + binNanos - 1) / binNanos);
      for (int e = 0; e < used * Cause.COUNTED; e++) {
        counted[e] = random.nextInt(1000);
        sum[e % Cause.COUNTED] += counted[e];
      }
      DeviceTimeline t = DeviceTimeline.of("gpu", 3, nanos, 1, binNanos, counted);
      assertThat(t.bins()).isBetween(Math.min(used, 32), DeviceTimeline.MOST_BINS);
      double length = 0;
      for (int b = 0; b < t.bins(); b++) {
        assertThat(t.length(b)).isPositive();
        length += t.length(b);
      }
      assertThat(Math.round(1e9 * length)).isEqualTo(nanos);
      long all = 0;
      for (Cause c : Cause.values()) {
        long its = Math.round(1e9 * Arrays.stream(t.blockSeconds()[c.ordinal()]).sum());
        assertThat(c == Cause.NO_TASK ? 3 * nanos - all : sum[c.ordinal()]).isEqualTo(its);
        all += its;
      }
    }
  }

  @Test
  void aDeviceWithoutATaskHasATimelineOfNoTime() {
    DeviceTimeline t = DeviceTimeline.of("gpu", 264, 0, 0, 1, new long[8 * Cause.COUNTED]);
    assertThat(t.bins()).isEqualTo(1);
    assertThat(t.share(Cause.NO_TASK)).isZero();
    assertThat(TimelineText.of(List.of(t)))
        .isEqualTo(
            "gpu: 0.0000 s, 0.0% work, 0 tasks in 264 block slots, 1 bins of 0.000 ms"
                + System.lineSeparator());
  }
}
