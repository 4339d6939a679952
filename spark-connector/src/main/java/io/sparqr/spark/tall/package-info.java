/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * QR of tall and skinny dense matrices over the partitions of an RDD: each partition's rows to a
 * triangle, triangles in a tree of tasks, Q the same way down. Robust PCA iterates by it.
 */
@NullMarked
package io.sparqr.spark.tall;

import org.jspecify.annotations.NullMarked;
