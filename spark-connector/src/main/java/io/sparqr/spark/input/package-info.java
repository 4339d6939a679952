/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Matrices and right-hand sides from files, pipes and generators, by name. */
@NullMarked
package io.sparqr.spark.input;

import org.jspecify.annotations.NullMarked;
