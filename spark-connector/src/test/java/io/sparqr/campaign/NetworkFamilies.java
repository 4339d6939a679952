/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.campaign.Family.Kind;
import java.util.List;

/** Small networks of {@link Networks}. */
final class NetworkFamilies {

  private NetworkFamilies() {}

  static List<Family> all() {
    return List.of(
        new Family(
            "levelling",
            Kind.NETWORK,
            random -> Networks.levelling(3 + random.nextInt(58), random.nextInt(5), random).a()),
        new Family(
            "small-levelling",
            Kind.NETWORK,
            random -> Networks.levelling(3 + random.nextInt(6), 4, random).a()),
        new Family(
            "poses-exact",
            Kind.NETWORK,
            random -> Networks.poses(2 + random.nextInt(20), random.nextInt(5), true, random).a()),
        new Family(
            "poses",
            Kind.NETWORK,
            random ->
                Networks.poses(2 + random.nextInt(20), random.nextInt(5), false, random).a()));
  }
}
