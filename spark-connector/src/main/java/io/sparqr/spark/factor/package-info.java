/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * From shuffled rows and contribution blocks to R on the executors: one persisted RDD a level of
 * the task tree, one subtree a task, what the tasks report, R as rows or on the driver. A room of
 * the connector: not for callers, may change without notice.
 */
package io.sparqr.spark.factor;
