/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;

/**
 * A factorization as rows, to which others can be added.
 *
 * @param rows of R, with Q'b as labels
 * @param options of the factorization
 * @param before description of the rows of A; its number of partitions is ignored
 * @param columns n
 * @param tail size rhsCount: norms of b - Ax, the ridge's rows included
 * @param listener of the factorization's progress
 */
public record StartingFactor(
    RowSource rows,
    SolveOptions options,
    Earlier before,
    int columns,
    double[] tail,
    ProgressListener listener) {}
