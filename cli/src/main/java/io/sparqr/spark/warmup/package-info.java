/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The warm-up of a JVM: small problems solved in the background at the start of an application that
 * configures {@link io.sparqr.spark.metrics.SparqrPlugin}. Not for callers.
 */
@NullMarked
package io.sparqr.spark.warmup;

import org.jspecify.annotations.NullMarked;
