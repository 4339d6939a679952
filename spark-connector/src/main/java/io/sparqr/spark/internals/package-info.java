/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The only package that uses Spark's private parts: what Spark's sources declare {@code
 * private[spark]}, the storage of blocks, the scheduler, the status store. Each method says what we
 * need of them, and SparkContractTest calls each on every version of Spark that we support.
 */
@NullMarked
package io.sparqr.spark.internals;

import org.jspecify.annotations.NullMarked;
