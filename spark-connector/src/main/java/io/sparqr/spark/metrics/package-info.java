/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts for display only, which do not influence any result, and reports of executors at their
 * start, which only the cut of the tree uses.
 */
@NullMarked
package io.sparqr.spark.metrics;

import org.jspecify.annotations.NullMarked;
