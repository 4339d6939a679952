/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

/**
 * The results of the first pass over the rows, none of them as long as a row of A.
 *
 * @param rows rows of positive weight
 * @param nonzeros their entries
 * @param frobenius ||A||_F, the ridge's rows included
 * @param shuffleBytes of the pass
 */
public record FactorInput(long rows, long nonzeros, double frobenius, long shuffleBytes) {}
