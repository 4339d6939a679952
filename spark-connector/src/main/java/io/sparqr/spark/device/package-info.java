/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Which backend factors, and which GPU a task gets. */
@NullMarked
package io.sparqr.spark.device;

import org.jspecify.annotations.NullMarked;
