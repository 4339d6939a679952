/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.FactorSummary;
import java.io.Serializable;

/**
 * What a subtree task tells the driver.
 *
 * @param task its id
 * @param summary of its factorization
 * @param residualSquares size rhsCount: what ended here
 * @param entries values of R
 * @param dead positions of dead pivot columns, ascending
 * @param bytesIn bytes of rows and blocks that came by shuffle
 * @param blockBytes bytes of contribution blocks that it passes on
 * @param reflectorBytes bytes of Q that are kept
 * @param backendReason why this backend
 */
public record TaskReport(
    int task,
    FactorSummary summary,
    double[] residualSquares,
    long entries,
    int[] dead,
    long bytesIn,
    long blockBytes,
    long reflectorBytes,
    String backendReason)
    implements Serializable {}
