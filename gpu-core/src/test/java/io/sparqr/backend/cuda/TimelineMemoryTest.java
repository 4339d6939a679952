/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.DeviceTimeline.Cause;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The layout of the counts and what is read of them. */
class TimelineMemoryTest {

  private static final Pattern FIELD = Pattern.compile("unsigned long long (\\w+)[;\\[]");
  private static final Pattern CAUSE = Pattern.compile("SPARQR_(?:WORK|WAIT)_(\\w+) = (\\d+),");

  private static String header() throws Exception {
    return Files.readString(Path.of("src/main/cuda/include/several/timeline.cuh"));
  }

  @Test
  void theLayoutIsThatOfTheHeader() throws Exception {
    String header = header();
    assertThat(header)
        .contains("sizeof(SparqrTimeline) == " + TimelineMemory.BYTES + ",")
        .contains("SPARQR_BINS = " + TimelineMemory.BINS + ";")
        .contains("SPARQR_CAUSES = " + Cause.COUNTED + "\n");
    int from = header.indexOf("struct SparqrTimeline {");
    String fields = header.substring(from, header.indexOf("};", from));
    assertThat(FIELD.matcher(fields).results().map(r -> r.group(1)))
        .containsExactly("begin", "end", "tasks", "unused", "nanos");
  }

  @Test
  void causesHaveTheNumbersOfTheHeader() throws Exception {
    var kernels = CAUSE.matcher(header()).results().toList();
    assertThat(kernels).hasSize(Cause.COUNTED);
    for (var cause : kernels) {
      String name = Cause.values()[Integer.parseInt(cause.group(2))].name();
      String last = cause.group(1);
      assertThat(name.startsWith("WAIT") ? name : "WORK_" + name.replace("SMALL_FRONT", "SMALL"))
          .isEqualTo(cause.group().substring("SPARQR_".length()).split(" ")[0])
          .endsWith(last.toUpperCase(Locale.ROOT));
    }
  }

  private static ByteBuffer counts() {
    return ByteBuffer.allocate(TimelineMemory.BYTES).order(ByteOrder.nativeOrder());
  }

  @Test
  void clearCountsAreZerosAndABeginThatEveryTicketLowers() {
    ByteBuffer b = counts();
    Arrays.fill(b.array(), (byte) 77);
    TimelineMemory.clear(b);
    assertThat(b.getLong(0)).isEqualTo(-1);
    for (int at = 8; at < TimelineMemory.BYTES; at += 8) {
      assertThat(b.getLong(at)).isZero();
    }
    DeviceTimeline none = TimelineMemory.timeline("gpu", 264, 10, b);
    assertThat(none.seconds()).isZero();
    assertThat(none.tasks()).isZero();
  }

  private static ByteBuffer example() {
    ByteBuffer b = counts();
    b.putLong(0, 5_000);
    b.putLong(8, 5_000 + 2 * 1024);
    b.putLong(16, 42);
    b.putLong(32 + 8 * Cause.APPLY.ordinal(), 512);
    b.putLong(32 + 8 * (Cause.COUNTED + Cause.WAIT_DEVICE.ordinal()), 256);
    return b;
  }

  @Test
  void countsAreRead() {
    DeviceTimeline t = TimelineMemory.timeline("gpu", 1, 10, example());
    assertThat(t.device()).isEqualTo("gpu");
    assertThat(t.tasks()).isEqualTo(42);
    assertThat(Math.round(1e9 * t.seconds())).isEqualTo(2048);
    assertThat(t.bins()).isEqualTo(2);
    assertThat(Math.round(1024 * t.share(Cause.APPLY, 0))).isEqualTo(512);
    assertThat(Math.round(1024 * t.share(Cause.WAIT_DEVICE, 1))).isEqualTo(256);
    assertThat(Math.round(1024 * t.share(Cause.NO_TASK, 1))).isEqualTo(768);
  }

  @Test
  void binsCoverThePredictedTimeAndFewMore() {
    for (double nanos = 1; nanos < 1e13; nanos *= 1.7) {
      double bins = nanos / (1L << TimelineMemory.shift(nanos));
      assertThat(bins).isLessThanOrEqualTo(128);
      assertThat(bins).isGreaterThanOrEqualTo(Math.min(64, Math.floor(nanos)));
    }
    assertThat(TimelineMemory.shift(1e30)).isEqualTo(40);
  }

  /** Every word matters: with one changed, the timeline is another one, or refused. */
  @Test
  void aWordInAnotherPlaceIsSeen() {
    DeviceTimeline right = TimelineMemory.timeline("gpu", 1, 10, example());
    for (int at : new int[] {0, 8, 16, 32, 32 + 8 * Cause.COUNTED, TimelineMemory.BYTES - 8}) {
      ByteBuffer b = example();
      b.putLong(at, b.getLong(at) + 500);
      assertThat(TimelineMemory.timeline("gpu", 1, 10, b))
          .usingRecursiveComparison()
          .isNotEqualTo(right);
    }
    ByteBuffer small = counts().limit(TimelineMemory.BYTES - 8);
    assertThatThrownBy(() -> TimelineMemory.timeline("gpu", 1, 10, small))
        .isInstanceOf(java.nio.BufferUnderflowException.class);
  }
}
