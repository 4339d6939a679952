/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** Where values are missing. */
enum MissingKind {
  NOWHERE(8),
  RESPONSE(1),
  REGRESSOR(1),
  FACTOR(1),
  EFFECT(1),
  OFFSET(1),
  WEIGHT(1),
  CLUSTER(1),
  UNDEFINED_FUNCTION(1),
  UNUSED_COLUMN(1),
  EVERYWHERE(2);

  private final int share;

  MissingKind(int share) {
    this.share = share;
  }

  int share() {
    return share;
  }
}
