/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The options of a solve, and the plan that is broadcast. */
@NullMarked
package io.sparqr.spark.plan;

import org.jspecify.annotations.NullMarked;
