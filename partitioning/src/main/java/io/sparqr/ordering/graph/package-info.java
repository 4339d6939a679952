/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The graph of A'A as orderings see it: its edges from the rows of A, equal columns merged. */
@NullMarked
package io.sparqr.ordering.graph;

import org.jspecify.annotations.NullMarked;
