/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * From shuffled rows and contribution blocks to R on the executors: one persisted RDD per level of
 * the task tree, one subtree per task, the tasks' reports, R as rows or on the driver. An internal
 * package of the connector, not for callers; it may change without notice.
 */
@NullMarked
package io.sparqr.spark.factor;

import org.jspecify.annotations.NullMarked;
