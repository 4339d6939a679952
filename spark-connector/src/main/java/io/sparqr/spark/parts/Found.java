/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

/**
 * What the task of a partition finds for the driver.
 *
 * @param figures of the partition
 * @param table to be merged with those of the other partitions
 * @param <F> figures
 * @param <V> table
 */
public record Found<F extends Record & OfPartition, V>(F figures, V table) {}
