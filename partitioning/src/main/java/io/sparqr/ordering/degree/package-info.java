/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Minimum-degree orders: AMD on the graph of A'A, COLAMD on the rows of A. */
package io.sparqr.ordering.degree;
