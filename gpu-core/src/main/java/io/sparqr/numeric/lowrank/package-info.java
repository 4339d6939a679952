/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * A dense matrix as a low-rank one plus a sparse one (Robust PCA): the arithmetic of an iteration
 * on blocks of rows, the decisions between iterations, and both together on one machine. Uses
 * io.sparqr.numeric.dense for R and its singular values; knows nothing of Spark.
 */
@NullMarked
package io.sparqr.numeric.lowrank;

import org.jspecify.annotations.NullMarked;
