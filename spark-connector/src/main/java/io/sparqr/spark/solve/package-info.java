/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Computations with R: triangular solves over the levels, residuals by a pass over the rows,
 * semi-normal equations and refinement, application of the stored Q. An internal package of the
 * connector, not for callers; it may change without notice.
 */
@NullMarked
package io.sparqr.spark.solve;

import org.jspecify.annotations.NullMarked;
