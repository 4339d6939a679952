/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Combines the other packages: the pipeline from rows to a factorization, the operations on a
 * factorization, its report, and minimum-norm solutions by two factorizations. An internal package
 * of the connector, not for callers; it may change without notice.
 */
package io.sparqr.spark.internal;
