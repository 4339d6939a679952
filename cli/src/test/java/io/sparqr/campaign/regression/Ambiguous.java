/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** A case without one right answer, which the generator draws again. */
final class Ambiguous extends RuntimeException {

  private static final long serialVersionUID = 1;

  Ambiguous(String why) {
    super(why);
  }
}
