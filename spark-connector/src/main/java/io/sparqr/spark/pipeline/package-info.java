/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** From rows to a factorization, step by step: rows, analysis, plan, levels. */
@NullMarked
package io.sparqr.spark.pipeline;

import org.jspecify.annotations.NullMarked;
