/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Values that tasks leave for later tasks of the same JVM, and that the driver sends to tasks. */
@NullMarked
package io.sparqr.spark.exchange;

import org.jspecify.annotations.NullMarked;
