/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.engine.Engine;
import java.util.List;
import org.junit.jupiter.api.Test;

class ToldTest {

  @Test
  void tasksTellTheDriverOnceInTheirOrder() {
    Told told = Told.of(Engine.of(LocalSpark.context()));
    LocalSpark.context()
        .parallelize(List.of(7, 5, 6), 3)
        .foreach(k -> told.tell(k, List.of(new byte[] {k.byteValue()}, new byte[k])));
    List<List<byte[]>> level = told.take(5, 3).orElseThrow();
    assertThat(level).hasSize(3);
    for (int k = 0; k < 3; k++) {
      assertThat(level.get(k)).hasSize(2);
      assertThat(level.get(k).get(0)).containsExactly(5 + k);
      assertThat(level.get(k).get(1)).hasSize(5 + k);
    }
    assertThat(told.take(5, 3)).as("forgotten").isEmpty();
  }

  @Test
  void theFirstThatATaskTellsCounts() {
    Told told = Told.of(Engine.LOCAL);
    told.tell(2, List.of(new byte[] {1}));
    told.tell(2, List.of(new byte[] {2}));
    assertThat(told.take(2, 1).orElseThrow().get(0).get(0)).containsExactly(1);
  }

  @Test
  void ofSomeTasksOfALevelNothingIsTaken() {
    Told told = Told.of(Engine.LOCAL);
    told.tell(2, List.of(new byte[1]));
    told.tell(4, List.of(new byte[1]));
    assertThat(told.take(2, 2)).isEmpty();
  }
}
