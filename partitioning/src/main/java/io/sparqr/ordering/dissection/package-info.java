/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Nested dissection of the graph of A'A: separators, their refinement, the recursion over them. */
@NullMarked
package io.sparqr.ordering.dissection;

import org.jspecify.annotations.NullMarked;
