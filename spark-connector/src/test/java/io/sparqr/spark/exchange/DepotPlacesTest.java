/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.engine.PlannedPlaces.Place;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DepotPlacesTest {

  private static final Optional<Place> FIRST = Optional.of(new Place("0", "executor_a_0", 2));
  private static final Optional<Place> SECOND = Optional.of(new Place("1", "executor_b_1", 2));

  @Test
  void unequalSharesStayWhereTheyAre() {
    List<Optional<Place>> places =
        List.of(FIRST, SECOND, FIRST, Optional.empty(), FIRST, FIRST, FIRST, FIRST);
    assertThat(DepotPlaces.fair(places, 4)).isEqualTo(places);
  }

  /** All is at the first executor of ten: its share is two of twenty. */
  @Test
  void newExecutorsNeedNotWaitForTheFirst() {
    List<Optional<Place>> fair = DepotPlaces.fair(Collections.nCopies(20, FIRST), 20);
    List<Optional<Place>> expected = new ArrayList<>(Collections.nCopies(4, FIRST));
    expected.addAll(Collections.nCopies(16, Optional.<Place>empty()));
    assertThat(fair).isEqualTo(expected);
  }
}
