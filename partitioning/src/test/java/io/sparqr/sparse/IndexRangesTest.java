/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IndexRangesTest {

  @Test
  void theyAgreeWithThoseOfJava() {
    long seed = 7;
    var random = new Random(seed);
    for (int trial = 0; trial < 20_000; trial++) {
      int[] a = random.ints(random.nextInt(40), 0, 2).toArray();
      int[] b = random.nextBoolean() ? a : random.ints(random.nextInt(40), 0, 2).toArray();
      int aFrom = random.nextInt(a.length + 1);
      int aTo = aFrom + random.nextInt(a.length - aFrom + 1);
      int bFrom = random.nextInt(b.length + 1);
      int bTo = bFrom + random.nextInt(b.length - bFrom + 1);
      assertThat(Integer.signum(IndexRanges.compare(a, aFrom, aTo, b, bFrom, bTo)))
          .as("seed %d, trial %d", seed, trial)
          .isEqualTo(Integer.signum(Arrays.compare(a, aFrom, aTo, b, bFrom, bTo)));
      int n = Math.min(aTo - aFrom, bTo - bFrom);
      assertThat(IndexRanges.equal(a, aFrom, aFrom + n, b, bFrom))
          .as("seed %d, trial %d", seed, trial)
          .isEqualTo(Arrays.equals(a, aFrom, aFrom + n, b, bFrom, bFrom + n));
    }
  }

  @Test
  void oneIndexThatDiffersIsSeenWhereverItIs() {
    int[] a = new Random(8).ints(5000).toArray();
    for (int k : new int[] {0, 1, 1023, 1024, 2047, 4998, 4999}) {
      int[] b = a.clone();
      b[k] ^= 1 << 31;
      assertThat(IndexRanges.equal(a, 0, a.length, b, 0)).as("%d", k).isFalse();
      b[k] ^= 1 << 31;
      assertThat(IndexRanges.equal(a, 0, a.length, b, 0)).isTrue();
    }
  }

  /**
   * In a JVM of its own, which has the memory: {@link Arrays#equals(int[], int, int, int[], int,
   * int)} of Java 17 ends it.
   */
  @Sampled(oneIn = 4)
  @Test
  void placesBeyondTwoGigabytes() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx3g",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(printed).isZero();
    assertThat(printed).endsWith("true false 0\n");
  }

  /** What the other JVM runs. */
  static final class Main {
    public static void main(String[] args) {
      int n = 4096;
      int at = (1 << 29) + n;
      int[] longest = new int[at + n];
      int[] part = new Random(9).ints(n).toArray();
      System.arraycopy(part, 0, longest, at, n);
      boolean same = true;
      boolean shifted = false;
      int order = 0;
      for (int trial = 0; trial < 20_000; trial++) {
        same &= IndexRanges.equal(longest, at, at + n, part, 0);
        shifted |= IndexRanges.equal(part, 0, n, longest, at - 1);
        order |= IndexRanges.compare(longest, at, at + n, part, 0, n);
      }
      System.out.print(same + " " + shifted + " " + order + "\n");
    }
  }

  @Test
  void partsOutsideAreErrors() {
    int[] a = new int[4];
    assertThatThrownBy(() -> IndexRanges.equal(a, 1, 5, a, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> IndexRanges.equal(a, 0, 3, a, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> IndexRanges.compare(a, 3, 2, a, 0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> IndexRanges.compare(a, 0, 1, a, -1, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
