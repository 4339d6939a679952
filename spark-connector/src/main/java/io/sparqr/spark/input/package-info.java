/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Matrices and right-hand sides from files, pipes and generators, by name. */
package io.sparqr.spark.input;
