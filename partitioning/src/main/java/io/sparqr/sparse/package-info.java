/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Patterns, matrices and permutations: the data types of everything else. */
@NullMarked
package io.sparqr.sparse;

import org.jspecify.annotations.NullMarked;
