/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** Kinds of responses. */
enum LabelKind {
  USUAL(20),
  LOGARITHM(2),
  TRUTH(1),
  FAR_FROM_ZERO(1),
  CONSTANT(1),
  NO_FREEDOM(1);

  private final int share;

  LabelKind(int share) {
    this.share = share;
  }

  int share() {
    return share;
  }
}
