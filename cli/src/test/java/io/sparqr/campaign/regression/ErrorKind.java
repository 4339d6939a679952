/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** Kinds of standard errors. */
enum ErrorKind {
  IID(4),
  HC0(1),
  HC1(1),
  HC2(1),
  HC3(1),
  ONE_WAY(2),
  BY_EFFECT(2),
  TWO_WAY(3),
  NESTED_WAYS(1),
  FEW_CLUSTERS(1),
  ONE_CLUSTER(1),
  A_CLUSTER_A_ROW(1);

  private final int share;

  ErrorKind(int share) {
    this.share = share;
  }

  int share() {
    return share;
  }
}
