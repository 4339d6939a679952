/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The engine under a solve: Spark or this JVM alone, its jobs, errors, budgets and preferred
 * places.
 */
@NullMarked
package io.sparqr.spark.engine;

import org.jspecify.annotations.NullMarked;
