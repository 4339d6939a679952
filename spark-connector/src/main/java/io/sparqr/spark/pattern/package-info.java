/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * What one pass over the rows tells before a value is used: distinct patterns with multiplicity in
 * an order that no message decides, column norms, sizes. A room of the connector: not for callers,
 * may change without notice.
 */
package io.sparqr.spark.pattern;
