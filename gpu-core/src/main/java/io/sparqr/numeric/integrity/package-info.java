/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Whether a factorization is one: sums over rows that an orthogonal transformation keeps, taken of
 * what goes into a task and of what comes out.
 */
package io.sparqr.numeric.integrity;
