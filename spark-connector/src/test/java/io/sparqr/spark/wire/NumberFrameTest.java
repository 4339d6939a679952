/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.WireFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Values are read as they were written, and no length is trusted. */
class NumberFrameTest {

  private static NumberFrame.Reader reader(NumberFrame.Writer out) {
    return new NumberFrame.Reader(out.seal(Frame.Kind.PLAN), Frame.Kind.PLAN);
  }

  @Test
  void everythingComesBackInItsOrder() {
    double strange = Double.longBitsToDouble(0x7ff8_0000_0000_1234L);
    var in =
        reader(
            new NumberFrame.Writer()
                .putInt(-7)
                .putText("größer als ∞")
                .putDoubles(new double[] {-0.0, 5e-324, strange})
                .putInts(new int[0])
                .putDouble(strange)
                .putLong(1L << 40)
                .putInts(new int[] {Integer.MAX_VALUE, -1})
                .putInt(1));
    assertThat(in.getInt()).isEqualTo(-7);
    assertThat(in.getText()).isEqualTo("größer als ∞");
    double[] d = in.getDoubles();
    assertThat(d).hasSize(3);
    assertThat(Double.doubleToRawLongBits(d[0])).isEqualTo(Long.MIN_VALUE);
    assertThat(d[1]).isEqualTo(5e-324);
    assertThat(Double.doubleToRawLongBits(d[2])).isEqualTo(0x7ff8_0000_0000_1234L);
    assertThat(in.getInts()).isEmpty();
    assertThat(Double.doubleToRawLongBits(in.getDouble())).isEqualTo(0x7ff8_0000_0000_1234L);
    assertThat(in.getLong()).isEqualTo(1L << 40);
    assertThat(in.getInts()).containsExactly(Integer.MAX_VALUE, -1);
    assertThatThrownBy(in::end).isInstanceOf(WireFormatException.class);
    assertThat(in.getOneOf(TimeUnit.values())).isEqualTo(TimeUnit.MICROSECONDS);
    in.end();
    assertThatThrownBy(in::getInt).isInstanceOf(WireFormatException.class);
    assertThatThrownBy(in::getLong).isInstanceOf(WireFormatException.class);
  }

  /** A length that none of our writers can produce, with a correct checksum. */
  @Test
  void noLengthIsBelieved() {
    List<Function<NumberFrame.Reader, Object>> getters =
        List.of(
            NumberFrame.Reader::getInts,
            NumberFrame.Reader::getDoubles,
            NumberFrame.Reader::getText,
            r -> r.getCount(40),
            r -> r.getOneOf(TimeUnit.values()));
    for (int length : new int[] {-1, Integer.MIN_VALUE, 1 << 29, Integer.MAX_VALUE, 17}) {
      for (var get : getters) {
        var out = new NumberFrame.Writer().putInt(length).putLong(0).putLong(0);
        assertThatThrownBy(() -> get.apply(reader(out)))
            .as("length %d", length)
            .isInstanceOf(WireFormatException.class);
      }
    }
    // a length that fits is accepted
    assertThat(reader(new NumberFrame.Writer().putInt(2).putLong(5)).getInts())
        .containsExactly(5, 0);
  }

  @Test
  void aFrameOfAnotherKindOrADamagedOneIsRefused() {
    byte[] frame = new NumberFrame.Writer().putLong(1).seal(Frame.Kind.TASK);
    assertThatThrownBy(() -> new NumberFrame.Reader(frame, Frame.Kind.PLAN))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("kind");
    ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putLong(Frame.HEADER, 2);
    assertThatThrownBy(() -> new NumberFrame.Reader(frame, Frame.Kind.TASK))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("checksum");
  }
}
