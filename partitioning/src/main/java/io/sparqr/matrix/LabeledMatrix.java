/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.sparse.CsrMatrix;

/**
 * A matrix with one right-hand side, as a libsvm file holds them.
 *
 * @param matrix A, m x n
 * @param labels b, size m
 * @param note an assumption made while reading that the user should know; empty: none
 */
public record LabeledMatrix(CsrMatrix matrix, double[] labels, String note) {}
