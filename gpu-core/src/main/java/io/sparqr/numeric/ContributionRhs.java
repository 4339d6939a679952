/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * The right-hand sides of a contribution block's rows, without its entries: passed from child to
 * parent when Q' is applied again.
 *
 * @param front the front whose block it is
 * @param values cm x width, row-major
 */
public record ContributionRhs(int front, double[] values) {}
