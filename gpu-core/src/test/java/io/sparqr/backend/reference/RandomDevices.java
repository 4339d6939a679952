/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.staged.layout.StageProgram;
import java.util.Random;
import java.util.function.Function;

/** Devices for the fronts of stages by chance, much worse than any plan. */
public final class RandomDevices implements Function<StageProgram, FrontDevices> {

  private final int devices;
  private final int shareOneIn;
  private final int crossOneIn;
  private final Random random;

  /**
   * A source of maps.
   *
   * @param shareOneIn one in so many tiled fronts is shared; 0: none
   * @param crossOneIn one in so many of the others does not go where its parent is
   */
  public RandomDevices(int devices, int shareOneIn, int crossOneIn, long seed) {
    this.devices = devices;
    this.shareOneIn = shareOneIn;
    this.crossOneIn = crossOneIn;
    random = new Random(seed);
  }

  @Override
  public FrontDevices apply(StageProgram p) {
    int[] first = new int[p.fronts()];
    int[] count = new int[p.fronts()];
    for (int f = p.fronts() - 1; f >= 0; f--) {
      int parent = p.descriptor(f).parent();
      boolean moves = parent < 0 || random.nextInt(crossOneIn) == 0;
      first[f] = moves ? random.nextInt(devices) : first[parent];
      count[f] = 1;
      boolean tiled = !p.descriptor(f).small() && p.descriptor(f).fm() > 0;
      if (tiled && shareOneIn > 0 && random.nextInt(shareOneIn) == 0) {
        first[f] = random.nextInt(devices - 1);
        count[f] = 2 + random.nextInt(devices - first[f] - 1);
      }
    }
    return new FrontDevices(devices, first, count, 1 + random.nextInt(3));
  }
}
