/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeptPlansTest {

  @Test
  void theLastOneThatServesIsTakenAndIsItsTakersAlone() {
    var kept = new KeptPlans<String>();
    kept.keep("one");
    kept.keep("two");
    kept.keep("three");
    assertThat(kept.take(p -> p.startsWith("t"))).contains("three");
    assertThat(kept.take(p -> p.startsWith("t"))).contains("two");
    assertThat(kept.take(p -> p.startsWith("t"))).isEmpty();
    kept.keep("three");
    assertThat(kept.take(p -> p.startsWith("t"))).contains("three");
    assertThat(kept.take(p -> true)).contains("one");
    assertThat(kept.take(p -> true)).isEmpty();
  }

  @Test
  void theOldestOfManyIsForgotten() {
    var kept = new KeptPlans<Integer>();
    for (int k = 0; k <= KeptPlans.MOST; k++) {
      kept.keep(k);
    }
    assertThat(kept.take(k -> k == 0)).isEmpty();
    assertThat(kept.take(k -> k == 1)).contains(1);
    kept.clear();
    assertThat(kept.take(k -> true)).isEmpty();
  }

  @Test
  void oneOfSeveralTakersGetsIt() {
    for (int round = 0; round < 200; round++) {
      var kept = new KeptPlans<String>();
      kept.keep("plan");
      var takers = new AtomicInteger();
      IntStream.range(0, 8)
          .parallel()
          .forEach(k -> kept.take(p -> true).ifPresent(p -> takers.incrementAndGet()));
      assertThat(takers).hasValue(1);
    }
  }
}
