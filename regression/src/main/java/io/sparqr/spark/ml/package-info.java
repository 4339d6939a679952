/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Sparqr as a Spark ML estimator: {@link io.sparqr.spark.ml.SparseQRRegression}, its model and its
 * summary, with the names and behaviour of MLlib's linear regression wherever the functions
 * overlap. Built on {@link io.sparqr.spark.GpuSparseQR}; only examples depend on it.
 *
 * <p>Data flow: Dataset, rows with a column of ones for the intercept, ridge rows for the features,
 * factorization, coefficients, standard errors, summary.
 */
@NullMarked
package io.sparqr.spark.ml;

import org.jspecify.annotations.NullMarked;
