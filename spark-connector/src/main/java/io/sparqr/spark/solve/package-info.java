/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * What is computed with R: triangular solves over the levels, residuals by a pass over the rows,
 * semi-normal equations and refinement, Q applied where it is kept. A room of the connector: not
 * for callers, may change without notice.
 */
package io.sparqr.spark.solve;
