/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.python;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.model.RowColumns;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class PythonSupportTest {

  @Test
  void doublesTravelAsLittleEndianBytes() {
    double[] values = {1, -0.0, Double.MIN_VALUE, Double.NaN, 1e300};
    assertThat(PythonSupport.parts(values)).isEqualTo(1);
    ByteBuffer bytes =
        ByteBuffer.wrap(PythonSupport.bytes(values, 0)).order(ByteOrder.LITTLE_ENDIAN);
    for (double v : values) {
      assertThat(Double.doubleToRawLongBits(bytes.getDouble()))
          .isEqualTo(Double.doubleToRawLongBits(v));
    }
    assertThat(bytes.hasRemaining()).isFalse();
    assertThat(PythonSupport.parts(new double[0])).isZero();
  }

  @Test
  void longArraysTravelInParts() {
    double[] values = new double[(1 << 24) + 3];
    values[1 << 24] = 7;
    assertThat(PythonSupport.parts(values)).isEqualTo(2);
    assertThat(PythonSupport.bytes(values, 0)).hasSize(8 << 24);
    byte[] rest = PythonSupport.bytes(values, 1);
    assertThat(rest).hasSize(24);
    assertThat(ByteBuffer.wrap(rest).order(ByteOrder.LITTLE_ENDIAN).getDouble()).isEqualTo(7);
  }

  @Test
  void integersTravelTheSameWay() {
    int[] values = new int[(1 << 24) + 2];
    values[0] = -5;
    values[(1 << 24) + 1] = Integer.MAX_VALUE;
    assertThat(PythonSupport.parts(values)).isEqualTo(2);
    ByteBuffer first =
        ByteBuffer.wrap(PythonSupport.bytes(values, 0)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(first.getInt()).isEqualTo(-5);
    ByteBuffer rest =
        ByteBuffer.wrap(PythonSupport.bytes(values, 1)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(rest.remaining()).isEqualTo(8);
    assertThat(rest.getInt(4)).isEqualTo(Integer.MAX_VALUE);
    assertThat(PythonSupport.parts(new int[0])).isZero();
  }

  @Test
  void stringsBecomeAnArray() {
    assertThat(PythonSupport.columns("f", "", List.of("a", "b")))
        .isEqualTo(RowColumns.of("f", "a", "b"));
    assertThat(PythonSupport.columns("f", "w", List.of("a")))
        .isEqualTo(RowColumns.of("f", "a").weighted("w"));
  }
}
