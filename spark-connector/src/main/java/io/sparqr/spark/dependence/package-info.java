/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Columns that depend on others: the null space from R, which columns of it go when the user has a
 * say, and what that changes in solutions and errors. A room of the connector: not for callers, may
 * change without notice.
 */
package io.sparqr.spark.dependence;
