/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The rooms put together: the pipeline from rows to a factorization, what a factorization offers,
 * its report, minimum-norm solutions by two of them. A room of the connector: not for callers, may
 * change without notice.
 */
package io.sparqr.spark.internal;
