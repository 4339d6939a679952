/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows from the caller to the tasks of their fronts: forms, checks, fingerprints, the map-side
 * combine, the shuffle, what the driver gets of them. Knows the plan, but nothing that is made of
 * the rows. A room of the connector: not for callers, may change without notice.
 */
package io.sparqr.spark.rows;
