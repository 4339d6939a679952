/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.WireFormatException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Numbers over many frames. */
class NumberStreamTest {

  private static final long SEED = Long.getLong("test.seed", 20260204L);
  private static final int[] INTS = {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 127, 128, -64};
  private static final long[] LONGS = {0, 127, 128, -1, Long.MAX_VALUE, Long.MIN_VALUE};

  private final Random random = new Random(SEED);
  private final double[] doubles = random.doubles(100_000).toArray();
  private final int[] ints = random.ints(200_000).toArray();

  private List<byte[]> frames() throws IOException {
    doubles[5] = Double.NaN;
    doubles[6] = -0.0;
    var frames = new ArrayList<byte[]>();
    var out = new NumberStream.Writer(Frame.Kind.PLAN, frames::add);
    out.putInts(INTS).putDoubles(doubles).putText("dritte: ½").putInts(ints).putBoolean(true);
    out.putLongs(LONGS.length, k -> LONGS[k]).putInts(new int[0]).putInt(-7).putLong(-9);
    out.end();
    return frames;
  }

  private static NumberStream.Reader reader(List<byte[]> frames) throws IOException {
    Iterator<byte[]> it = frames.iterator();
    return new NumberStream.Reader(Frame.Kind.PLAN, it::next);
  }

  @Test
  void allOfItComesBack() throws IOException {
    List<byte[]> frames = frames();
    assertThat(frames.size()).isGreaterThan(3);
    var in = reader(frames);
    assertThat(in.getInts()).isEqualTo(INTS);
    double[] back = in.getDoubles();
    assertThat(Arrays.stream(back).mapToLong(Double::doubleToRawLongBits))
        .containsExactly(
            Arrays.stream(doubles)
                .mapToLong(Double::doubleToRawLongBits)
                .boxed()
                .toArray(Long[]::new));
    assertThat(in.getText()).isEqualTo("dritte: ½");
    assertThat(in.getInts()).isEqualTo(ints);
    assertThat(in.getBoolean()).isTrue();
    assertThat(in.getLongs()).isEqualTo(LONGS);
    assertThat(in.getInts()).isEmpty();
    assertThat(in.getInt()).isEqualTo(-7);
    assertThat(in.getLong()).isEqualTo(-9);
    in.end();
  }

  @Test
  void whatIsLeftOverIsRefused() throws IOException {
    var in = reader(frames());
    in.getInts();
    assertThatThrownBy(in::end).isInstanceOf(WireFormatException.class);
  }
}
