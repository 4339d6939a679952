/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The samples of the gate. */
class SamplingTest {

  @Test
  void oneOfEachTenAndThoseThatAlwaysRun() {
    for (int seed = 0; seed < 50; seed++) {
      int[] some = Sampling.chosen("seed " + seed, 600, 7, 311).toArray();
      assertThat(some).isSorted().doesNotHaveDuplicates().contains(7, 311).hasSizeBetween(60, 62);
      for (int first = 0; first < 600; first += Sampling.PART) {
        int from = first;
        assertThat(IntStream.of(some).filter(k -> k / Sampling.PART == from / Sampling.PART))
            .as("from %d on, seed %d", first, seed)
            .hasSizeBetween(1, 3);
      }
    }
  }

  @Test
  void aSampleRepeatsAndIsNeverEmpty() {
    for (int seed = 0; seed < 50; seed++) {
      for (int whole = 1; whole < 35; whole++) {
        int[] some = Sampling.chosen("seed " + seed, whole).toArray();
        assertThat(Sampling.chosen("seed " + seed, whole).toArray()).isEqualTo(some);
        assertThat(some).isNotEmpty();
        assertThat(some[some.length - 1]).isLessThan(whole);
      }
    }
    assertThat(Sampling.chosen("seed", 0).toArray()).isEmpty();
  }

  /** Each case has its turn: 60 commits leave out one in 600. */
  @Test
  void everyCaseHasItsTurn() {
    Set<Integer> seen = new HashSet<>();
    for (int seed = 0; seed < 60; seed++) {
      Sampling.chosen("%07x".formatted(seed * 7_919), 100).forEach(seen::add);
    }
    assertThat(seen).hasSizeGreaterThan(95);
  }

  /** Of so many cases in a row one runs, in the gate; of several seeds each has its turn. */
  @Test
  void oneOfSoManyCasesInARow() {
    Set<Integer> firsts = new HashSet<>();
    for (int test = 0; test < 50; test++) {
      for (int oneIn = 1; oneIn < 7; oneIn++) {
        String name = "test " + test;
        int part = oneIn;
        int[] run = IntStream.range(0, 60).filter(k -> Sampling.inTurn(name, k, part)).toArray();
        assertThat(run).hasSize((60 + oneIn - 1 - run[0]) / oneIn);
        firsts.add(10 * oneIn + run[0]);
      }
    }
    assertThat(firsts).hasSize(1 + 2 + 3 + 4 + 5 + 6);
  }
}
