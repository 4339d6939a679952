/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.reference.DeviceBits;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several parts on one device that take turns, and, where they are visible, several devices. */
@Tag("gpu")
class CudaDevicesTest extends DevicesContract {

  private final CudaDriver driver = TestDevice.driver();
  private final DeviceSessions sessions = new DeviceSessions(driver, 0);

  @Override
  DeviceSessions sessions() {
    return sessions;
  }

  @Override
  List<List<Integer>> teams() {
    var teams = new ArrayList<List<Integer>>();
    teams.add(List.of(0, 0));
    teams.add(List.of(0, 0, 0));
    int devices = TestDevice.provider().devices();
    if (devices >= 2) {
      teams.add(List.of(0, 1));
      teams.add(List.of(1, 0));
    }
    if (devices >= 4) {
      teams.add(List.of(0, 1, 2, 3));
    }
    return teams;
  }

  @Override
  int denseRows() {
    return 2000;
  }

  /** The product's way: a factorizer that owns all devices, column sums and solves included. */
  @Test
  void aFactorizerOfAllDevicesGivesTheBitsOfOne() {
    DeviceBits c = DeviceBits.of(Gallery.generate("gen:cells3d40"), 1, true);
    var options = new FactorOptions(c.tolerance(), 4, 0);
    long before = LiveResources.total();
    SubtreeFactor expected;
    try (SubtreeFactorizer one = TestDevice.provider().create(0)) {
      expected = c.run(one, options);
    }
    var all = new ArrayList<Integer>();
    for (int d = 0; d < TestDevice.provider().devices(); d++) {
      all.add(d);
    }
    try (SubtreeFactorizer several = TestDevice.provider().create(all)) {
      for (int k = 0; k < 3; k++) {
        DeviceBits.assertSame(c.run(several, options), expected, "devices " + all);
      }
    }
    assertThat(LiveResources.total()).as("resources left").isEqualTo(before);
  }
}
