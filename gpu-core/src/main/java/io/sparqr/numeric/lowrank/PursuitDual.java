/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import io.sparqr.numeric.dense.DenseQr;

/**
 * The multiplier Y of some rows.
 *
 * @param qr of Y, without Q
 * @param tally max |Y|, &lt;M, Y&gt;, and of S the sum of absolute values
 */
public record PursuitDual(DenseQr qr, PursuitTally tally) {}
