/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Values that tasks leave for later tasks of the same JVM, that the driver sends to tasks, and that
 * tasks tell it as they end.
 */
@NullMarked
package io.sparqr.spark.exchange;

import org.jspecify.annotations.NullMarked;
