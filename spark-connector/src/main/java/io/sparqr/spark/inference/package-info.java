/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * What a statistician asks of a fit: covariances of coefficients, contrasts and their tests,
 * analysis of variance, intervals, predictions. Begins at {@link
 * io.sparqr.spark.inference.Inference}, over a factorization and the rows that it was made of;
 * columns go by their index. Sits on {@link io.sparqr.spark.QRFactorization}; (A'A)^-1 is never
 * formed, all comes from R where it is.
 */
package io.sparqr.spark.inference;
