/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.HeathFactorizer;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Results that are right are accepted. */
class AcceptedTest {

  private static double accepts(SubtreeFactorizer backend, IntegrityCases.Case c, FactorOptions o) {
    SubtreeFactor factor = backend.factor(c.problem(), o);
    double own = factor.summary().normDeparture();
    double departure = TaskCheck.verify(c.problem(), factor, o);
    long steps = Steps.of(c.problem(), factor);
    return Math.max(own, departure) / Balance.bound(steps);
  }

  @Test
  void experiment() {
    double[] worst = new double[3];
    String[] which = new String[3];
    var mixed = SchedulerOptions.defaults().withBundle(3).withSmallFronts(600, 24);
    for (long seed = 0; seed < Long.getLong("cases", 4000); seed++) {
      var c = IntegrityCases.random(seed);
      int k = 0;
      for (SubtreeFactorizer b :
          List.of(
              new CpuSubtreeFactorizer(),
              new ReferenceSubtreeFactorizer(mixed),
              new HeathFactorizer())) {
        try (b) {
          double d = Double.POSITIVE_INFINITY;
          try {
            d = accepts(b, c, new FactorOptions(c.tolerance(), 2, 0));
          } catch (IntegrityFailure | io.sparqr.error.NumericalIntegrityException e) {
            System.out.println(k + " " + c.name() + " " + e.getMessage());
          }
          if (!(d <= worst[k])) {
            worst[k] = d;
            which[k] = c.name();
          }
        }
        k++;
      }
    }
    for (int k = 0; k < 3; k++) {
      System.out.println(worst[k] + " " + which[k]);
    }
    assertThat(worst[0]).isLessThan(1);
  }
}
