/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Results of one pass over the rows, before any value is used: distinct patterns with multiplicity
 * in an order that does not depend on the timing of tasks, column norms, sizes. An internal package
 * of the connector, not for callers; it may change without notice.
 */
@NullMarked
package io.sparqr.spark.pattern;

import org.jspecify.annotations.NullMarked;
