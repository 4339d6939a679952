/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Patterns, matrices and permutations: the data that everything else reads. */
package io.sparqr.sparse;
