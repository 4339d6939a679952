/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Sparqr as a Spark ML estimator: {@link io.sparqr.spark.ml.SparseQRRegression}, its model and its
 * summary, named and behaving as MLlib's linear regression does where both can do a thing. Sits on
 * {@link io.sparqr.spark.GpuSparseQR}; nothing in the project depends on it but examples.
 *
 * <p>The way of the data: Dataset, rows with a column of ones for the intercept, ridge rows for the
 * features, factorization, coefficients, standard errors, summary.
 */
package io.sparqr.spark.ml;
