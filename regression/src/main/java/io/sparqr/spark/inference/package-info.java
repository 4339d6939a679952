/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Statistical inference for a fit: covariances of coefficients, contrasts and their tests, analysis
 * of variance, intervals, predictions. The entry point is {@link
 * io.sparqr.spark.inference.Inference}, for a factorization and its rows; columns are referred to
 * by index. Built on {@link io.sparqr.spark.QRFactorization}; (A'A)^-1 is never formed, and
 * everything is computed from R on the executors.
 */
@NullMarked
package io.sparqr.spark.inference;

import org.jspecify.annotations.NullMarked;
