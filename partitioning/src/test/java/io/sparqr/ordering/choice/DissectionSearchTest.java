/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.ordering.RandomPatterns;
import io.sparqr.ordering.StopRequest;
import io.sparqr.ordering.degree.Colamd;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.sparse.SparsityPattern;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DissectionSearchTest {

  private static final SparsityPattern GRID = RandomPatterns.of("gen:cells2d60");

  private static Set<Thread> workers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(t -> t.getName().startsWith("ForkJoinPool-"))
        .collect(Collectors.toCollection(HashSet::new));
  }

  @Test
  void whatBeganAheadIsWhatWouldHaveBeenMadeLater() {
    for (boolean ahead : new boolean[] {false, true}) {
      try (var search = new DissectionSearch(GRID)) {
        if (ahead) {
          search.beginIfSmall();
          search.begin(2);
        }
        for (int k = 0; k < DissectionSearch.VARIANTS; k++) {
          assertThat(search.order(k).toArray())
              .isEqualTo(NestedDissection.variant(k).order(GRID).toArray());
        }
        assertThat(search.colamd().toArray()).isEqualTo(new Colamd().order(GRID).toArray());
      }
    }
  }

  @Test
  void aStoppedSearchEndsWithoutAnOrder() {
    WeightedGraph graph = NestedDissection.graph(GRID);
    for (int threads : new int[] {1, 3}) {
      var stop = new StopRequest();
      stop.request();
      assertThatThrownBy(() -> new NestedDissection(threads).order(graph, stop))
          .isInstanceOf(CancellationException.class);
      assertThatThrownBy(() -> new Colamd().order(GRID, stop))
          .isInstanceOf(CancellationException.class);
    }
  }

  /** An idle worker of a pool that is not shut down would stay for a minute. */
  @Test
  void noThreadIsLeftOfASearchThatWasGivenUp() throws InterruptedException {
    Set<Thread> before = workers();
    Set<Thread> begun = new HashSet<>();
    for (int k = 0; k < 20; k++) {
      try (var search = new DissectionSearch(GRID)) {
        search.beginIfSmall();
        search.begin(3);
        begun.addAll(workers());
      }
    }
    begun.removeAll(before);
    assertThat(begun).as("workers of the searches").isNotEmpty();
    // the common pool's workers have other names
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
    for (Thread t : begun) {
      t.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
    }
    assertThat(begun).as("workers that are left").noneMatch(Thread::isAlive);
  }

  @Test
  void aGraphOfLongRowsDoesNotBeginAhead() {
    // 3000 rows of 100 entries: 30 million entries of cliques
    SparsityPattern wide = RandomPatterns.uniform(3000, 40_000, 100, 1);
    try (var search = new DissectionSearch(wide)) {
      search.beginIfSmall();
      assertThat(search.begun()).isFalse();
    }
    try (var search = new DissectionSearch(GRID)) {
      search.beginIfSmall();
      assertThat(search.begun()).isTrue();
    }
  }
}
