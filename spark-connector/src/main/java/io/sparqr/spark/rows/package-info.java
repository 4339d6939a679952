/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows from the caller to the tasks of their fronts: forms, checks, fingerprints, the map-side
 * combine, the shuffle, the driver's share. May use the plan, but nothing computed from the rows.
 * An internal package of the connector, not for callers; it may change without notice.
 */
@NullMarked
package io.sparqr.spark.rows;

import org.jspecify.annotations.NullMarked;
