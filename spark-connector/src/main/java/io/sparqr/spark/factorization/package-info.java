/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** A factorization that is kept: its state, solves, errors and report, and how it is saved. */
@NullMarked
package io.sparqr.spark.factorization;

import org.jspecify.annotations.NullMarked;
