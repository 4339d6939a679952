/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.MatrixFormatException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Changes that a weak hash would miss, and the messages for changes. */
class FingerprintTest {

  private static final long SEED = Long.getLong("test.seed", 20260402L);

  private record Data(int[] index, double[] value, double weight, double[] label) {}

  private static Fingerprint of(List<Data> rows) {
    var builder = new Fingerprint.Builder();
    for (Data r : rows) {
      builder.add(r.index, r.value, r.index.length, r.weight, r.label);
    }
    return builder.fingerprint();
  }

  private static List<Data> ones(int rows, int entries) {
    var list = new ArrayList<Data>();
    for (int i = 0; i < rows; i++) {
      int[] index = new int[entries];
      double[] value = new double[entries];
      for (int k = 0; k < entries; k++) {
        index[k] = i + k;
        value[k] = 1;
      }
      list.add(new Data(index, value, 1, new double[] {1, 1}));
    }
    return list;
  }

  /**
   * Every set of signs of small integers, with every order of them, in rows of 1 to 6 entries: a
   * sum of products without their upper halves, or one that is linear in the indices, would confuse
   * these.
   */
  @Test
  void smallChangesOfOneRowAllHaveHashesOfTheirOwn() {
    var seen = new HashMap<Long, String>();
    for (int entries = 1; entries <= 6; entries++) {
      int kinds = (int) Math.pow(4, entries);
      for (int first = 0; first < 3; first++) {
        for (int code = 0; code < kinds; code++) {
          int[] index = new int[entries];
          double[] value = new double[entries];
          for (int k = 0; k < entries; k++) {
            index[k] = first + k;
            value[k] = new double[] {1, -1, 2, -2}[code >> 2 * k & 3];
          }
          String what = entries + " from " + first + ", " + code;
          long hash = of(List.of(new Data(index, value, 1, new double[1]))).entries();
          assertThat(seen.put(hash, what)).as(what).isNull();
        }
      }
    }
    assertThat(seen).hasSize(3 * (4 + 16 + 64 + 256 + 1024 + 4096));
  }

  @Test
  void everyBitOfEveryNumberCounts() {
    Fingerprint before = of(ones(5, 3));
    for (int bit = 0; bit < 64; bit++) {
      long flip = 1L << bit;
      for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 3; k++) {
          List<Data> rows = ones(5, 3);
          rows.get(i).value[k] = flipped(1, flip);
          assertThat(of(rows).entries()).as("bit %d", bit).isNotEqualTo(before.entries());
        }
        for (int k = 0; k < 2; k++) {
          List<Data> rows = ones(5, 3);
          rows.get(i).label[k] = flipped(1, flip);
          assertThat(of(rows).labels()).isNotEqualTo(before.labels());
          assertThat(of(rows).entries()).isEqualTo(before.entries());
          assertThat(of(rows).unordered()).isNotEqualTo(before.unordered());
        }
        List<Data> rows = ones(5, 3);
        rows.set(
            i, new Data(rows.get(i).index, rows.get(i).value, flipped(1, flip), new double[2]));
        assertThat(of(rows).weights()).isNotEqualTo(before.weights());
      }
    }
  }

  private static double flipped(double v, long bits) {
    return Double.longBitsToDouble(Double.doubleToRawLongBits(v) ^ bits);
  }

  /** The same bit of two numbers of a partition: sums and products mod 2^64 lose the highest. */
  @Test
  void twoFlipsOfOneBitDoNotCancel() {
    for (int bit = 0; bit < 64; bit++) {
      for (int a = 0; a < 18; a++) {
        for (int b = a + 1; b < 18; b++) {
          List<Data> rows = ones(6, 3);
          Fingerprint before = of(rows);
          for (int at : new int[] {a, b}) {
            rows.get(at / 3).value[at % 3] = flipped(1, 1L << bit);
            if (at < 12) {
              rows.get(at / 2).label[at % 2] = flipped(1, 1L << bit);
            }
          }
          assertThat(of(rows).entries())
              .as("bit %d of %d, %d", bit, a, b)
              .isNotEqualTo(before.entries());
          if (a < 12) {
            assertThat(of(rows).labels())
                .as("bit %d of %d, %d", bit, a, b)
                .isNotEqualTo(before.labels());
          }
          assertThat(of(rows).unordered()).isNotEqualTo(before.unordered());
        }
      }
    }
  }

  @Test
  void anEntryThatMovesToTheNextRowAndRowsInAnotherOrderAreSeen() {
    double[] b = {0};
    Fingerprint first =
        of(
            List.of(
                new Data(new int[] {1, 2}, new double[] {1, 1}, 1, b),
                new Data(new int[] {3}, new double[] {1}, 1, b)));
    Fingerprint moved =
        of(
            List.of(
                new Data(new int[] {1}, new double[] {1}, 1, b),
                new Data(new int[] {2, 3}, new double[] {1, 1}, 1, b)));
    assertThat(moved.nonzeros()).isEqualTo(first.nonzeros());
    assertThat(moved.entries()).isNotEqualTo(first.entries());

    List<Data> rows = ones(50, 4);
    Fingerprint inOrder = of(rows);
    Collections.shuffle(rows, new Random(SEED));
    Fingerprint shuffled = of(rows);
    assertThat(shuffled.unordered()).as("seed %d", SEED).isEqualTo(inOrder.unordered());
    assertThat(shuffled.entries()).isNotEqualTo(inOrder.entries());
    var readings = new Readings(List.of(inOrder, shuffled));
    assertThat(readings.change(0, shuffled, true).orElseThrow())
        .hasMessageStartingWith("partition 0 had its 50 rows, then the same in another order: ");
    assertThatCode(() -> Readings.requireSame(readings.total(2), shuffled.plus(inOrder)))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> Readings.requireSame(readings.total(2), inOrder.plus(of(ones(50, 3)))))
        .isInstanceOf(InputChangedException.class)
        .hasMessageStartingWith("the input had 400 nonzeros, then 350: the input changed");
  }

  @Test
  void theSameIsNoChangeAndAnotherPartitionIs() {
    var readings = new Readings(List.of(of(ones(3, 2)), of(ones(4, 2))));
    assertThat(readings.change(0, of(ones(3, 2)), true)).isEmpty();
    assertThat(readings.change(1, of(ones(3, 2)), true)).isPresent();
    assertThat(readings.change(2, of(ones(3, 2)), true).orElseThrow())
        .hasMessageStartingWith("partition 2 is one more than there were: the input changed");
    InputChangedException e =
        readings.unreadable(1, new MatrixFormatException("row 2 of partition 1: null", "row", 2));
    assertThat(e).hasMessageStartingWith("row 2 of partition 1: null, not so before: the input");
    assertThat(e.laterRows()).isEmpty();
    assertThat(e.firstRows()).isEqualTo(4);
    assertThatThrownBy(() -> readings.requireWeights(0, 2, 0))
        .hasMessageContaining("3 rows, then 2");
    assertThatThrownBy(() -> readings.requireWeights(0, 3, 5))
        .hasMessageContaining("other weights");
    readings.requireWeights(0, 3, 0);
  }
}
