/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** A way to have a case solved. */
interface RegressionWay {

  /** For display. */
  String name();

  /** Whether it has all options of a case. */
  boolean can(RegressionCase c);

  Found solve(RegressionCase c);
}
