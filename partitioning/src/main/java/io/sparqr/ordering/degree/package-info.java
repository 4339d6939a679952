/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Minimum-degree orders: AMD on the graph of A'A, COLAMD on the rows of A. */
@NullMarked
package io.sparqr.ordering.degree;

import org.jspecify.annotations.NullMarked;
