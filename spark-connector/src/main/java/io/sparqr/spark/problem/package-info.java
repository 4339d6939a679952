/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Problems that are solved by factorizations of others: constraints, minimum norm, ridge paths, new
 * rows.
 */
@NullMarked
package io.sparqr.spark.problem;

import org.jspecify.annotations.NullMarked;
